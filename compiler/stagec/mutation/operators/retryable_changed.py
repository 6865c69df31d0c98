"""A process that may run again may not, or the other way round; a prompt may be repeated once less."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.value import replace
from stagec.mutation.mutant import Mutant, change_act, change_node, operator
from stagec.plan import Plan
from stagec.plan.act import Process, Prompt
from stagec.plan.gate import Backoff, Retry


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Flip whether each process may run again, and take the last repeat of each prompt that has some away."""
    for name, node in plan.nodes.items():
        act = node.act
        if isinstance(act, Process):
            told = f"it may {'not ' if act.retryable else ''}run again"
            wanted = "a run in which it fails, and its 'reason' or how often it was tried"
            retry = None if act.retryable else Retry(2, Backoff())
            changed = replace(act, retryable=not act.retryable)
            yield change_node(plan, name, ("act", "retryable"), told, wanted, act=changed, retry=retry)
        elif isinstance(act, Prompt) and act.repeats:
            told, wanted = "it may be repeated once less", "a run that repeats it as often as it may be"
            yield change_act(plan, name, ("repeats",), told, wanted, repeats=act.repeats[:-1])
