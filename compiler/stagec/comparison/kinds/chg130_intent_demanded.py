"""An answer without an allowed intent fails the run, where it had a fallback.

## Runs in flight
A model that was asked before the change may answer without an allowed intent.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.plan.gate import Gate, IntentGate


@declare_judged(
    "node {node} fails on an answer without an allowed intent, which had a fallback",
    fail_fast="changed",
    fallback="removed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    before, after = (each.gate for each in pair.nodes_of(change.node))
    return pair.is_reached(change.node) and _falls_back(before) and not _falls_back(after)


def _falls_back(gate: Gate) -> bool:
    return isinstance(gate, IntentGate) and not gate.fail_fast and gate.fallback is not None
