"""A validator does not run, or its refusal has another effect."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.place import Pointer
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_node, operator
from stagec.plan import Plan
from stagec.plan.gate import Validation

_ACTIONS = {"retry": "abort", "abort": "skip", "skip": "abort"}
Changed = tuple[Pointer, str, str, Validation]


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Drop each condition of each validation, turn what a refusal leads to, and drop each prompt that follows."""
    for name, node in plan.nodes.items():
        for way, told, wanted, changed in _change(node.validation) if node.validation is not None else ():
            yield change_node(plan, name, ("validation", *way), told, wanted, validation=changed)


def _change(validation: Validation) -> Iterator[Changed]:
    for member in ("preflight", "conditions"):
        conditions = getattr(validation, member)
        for index, each in enumerate(conditions):
            told = f"the validator {quote(each.validator)} is not asked"
            rest = (*conditions[:index], *conditions[index + 1 :])
            yield (member, index), told, "a run that it refuses", replace(validation, **{member: rest})
    if validation.conditions:
        other = _ACTIONS[validation.action]
        told = f"a refusal leads to {other!r} instead of {validation.action!r}"
        yield ("action",), told, "a run that is refused, and what follows", replace(validation, action=other)
        told = f"validators {'do not ' if validation.every_outcome else ''}guard every outcome"
        changed = replace(validation, every_outcome=not validation.every_outcome)
        yield ("every_outcome",), told, "a run with another outcome that is refused", changed
    for pattern in validation.prompts:
        prompts = {key: each for key, each in validation.prompts.items() if key != pattern}
        told = f"the prompt after {quote(pattern)} is gone"
        yield ("prompts", pattern), told, "a text of it in 'prompts'", replace(validation, prompts=prompts)
