"""A required input becomes optional, or an optional one required."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, operator
from stagec.plan import Plan


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Flip whether each input is required, and drop each default."""
    for name, given in plan.inputs.items():
        told = f"the input {quote(name)} is {'no longer required' if given.required else 'required'}"
        wanted = f"'unfit': inputs without {quote(name)}" if given.required else f"a run without {quote(name)}"
        changed = replace(given, required=not given.required, default=given.default if given.required else None)
        yield Mutant(None, ("inputs", name), told, wanted, fields={"inputs": {**plan.inputs, name: changed}})
        if given.default is not None:
            told, wanted = f"the input {quote(name)} has no default", f"a run without {quote(name)}, and its prompts"
            changed = replace(given, default=None)
            yield Mutant(None, ("inputs", name), told, wanted, fields={"inputs": {**plan.inputs, name: changed}})
