"""The intent is in another place of the answer.

## Runs in flight
A model that was asked before the change answers as it was asked.

## What to do
Add a node with another name.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.plan.gate import IntentGate


@declare_judged(
    "node {node} reads the intent at {after}, and an answer on its way has it at {before}", intent_field="changed"
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    gate = pair.nodes_of(change.node)[1].gate
    return pair.is_reached(change.node) and isinstance(gate, IntentGate)
