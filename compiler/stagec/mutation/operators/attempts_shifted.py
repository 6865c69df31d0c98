"""A node may try once more or less, or not again at all."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.value import replace
from stagec.mutation.mutant import Mutant, change_node, operator
from stagec.plan import Plan
from stagec.plan.gate import Retry, Validation

_WANTED = "a run in which no attempt is good enough, and how often it was tried"


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Shift the attempts of each node and of each validation, and take retries away."""
    for name, node in plan.nodes.items():
        if node.retry is not None:
            yield from _shift_retry(plan, name, node.retry)
        if node.validation is not None and node.validation.action == "retry":
            yield from _shift_validation(plan, name, node.validation)


def _shift_retry(plan: Plan, name: str, retry: Retry) -> Iterator[Mutant]:
    for after in (retry.attempts + 1, retry.attempts - 1):
        if after > 1:
            told = f"{after} attempts instead of {retry.attempts}"
            changed = replace(retry, attempts=after)
            yield change_node(plan, name, ("retry", "attempts"), told, _WANTED, retry=changed)
    if retry.attempts > 1:
        yield change_node(plan, name, ("retry",), "it is not tried again", _WANTED, retry=None)


def _shift_validation(plan: Plan, name: str, validation: Validation) -> Iterator[Mutant]:
    for after in (validation.attempts + 1, validation.attempts - 1):
        if after > 0:
            told = f"the validation may fail {after} times instead of {validation.attempts}"
            other = replace(validation, attempts=after)
            yield change_node(plan, name, ("validation", "attempts"), told, _WANTED, validation=other)
