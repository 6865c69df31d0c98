"""A node does not wait before it tries again, or waits for another time."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.value import replace
from stagec.mutation.mutant import Mutant, change_node, operator
from stagec.plan import Plan
from stagec.plan.gate import Backoff

_WANTED = "a run that tries again, and how long it 'waits'"


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Take each wait away, make each one double, and let waits that grow not grow and others grow."""
    for name, node in plan.nodes.items():
        retry = node.retry
        if retry is None or retry.backoff.kind == "none" or not retry.backoff.milliseconds:
            continue
        kind = "fixed" if retry.backoff.kind == "exponential" else "exponential"
        others = (
            ("it does not wait before it tries again", Backoff()),
            ("it waits twice as long", replace(retry.backoff, milliseconds=2 * retry.backoff.milliseconds)),
            (f"its waits are {kind!r}", replace(retry.backoff, kind=kind)),
        )
        for told, backoff in others:
            yield change_node(plan, name, ("retry", "backoff"), told, _WANTED, retry=replace(retry, backoff=backoff))
