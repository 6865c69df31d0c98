"""A schema of answers or inputs allows less."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.mutation.contracts import change_schemas
from stagec.mutation.mutant import Mutant, operator
from stagec.mutation.schema_edits import tighten
from stagec.plan import Plan

_WANTED = "a run with such a value, or 'accepts' or 'fit'"


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Change each constraint of each schema."""
    yield from change_schemas(plan, tighten, _WANTED)
