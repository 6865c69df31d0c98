"""Count how often a node repeats itself in a row, where its act bounds that (§ 3.8 of the format)."""

from __future__ import annotations

from stagec.core.words import format_count
from stagec.plan.act import Prompt
from stagec.runtime.execution import NodeResult
from stagec.runtime.failures import FailureKind, RunFailure
from stagec.runtime.step_builder import StepBuilder

_REPEAT = "repeat"


def count_repeat(builder: StepBuilder, over: NodeResult) -> RunFailure | None:
    """Count a repeat, or forget those before another outcome; return the failure of a run that repeats too often."""
    node = over.execution.node
    act, past = builder.nodes[node].act, builder.history_of(node).repeats
    if not isinstance(act, Prompt) or act.repeats is None:
        return None
    if over.outcome != _REPEAT:
        if past:
            builder.remember(node, repeats=0)
        return None
    if past == len(act.repeats):
        return RunFailure(FailureKind.CHAIN_EXHAUSTED, f"{format_count(past, 'repeat')} in a row")
    builder.remember(node, repeats=past + 1)
    return None
