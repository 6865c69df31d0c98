"""A schema of answers or inputs allows more."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.mutation.contracts import change_schemas
from stagec.mutation.mutant import Mutant, operator
from stagec.mutation.schema_edits import loosen
from stagec.plan import Plan

_WANTED = "'refuses' or 'unfit': a value that is not allowed"


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Change each constraint of each schema."""
    yield from change_schemas(plan, loosen, _WANTED)
