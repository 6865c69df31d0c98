"""Another agent works in a phase.

## Runs in flight
A run of the old agent may be open inside a run in flight. Its plan is not that of the new agent.

## What to do
Keep the agent until the runs in flight have ended, or add a phase for the new one.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair


@declare_judged("agent {after} works in phase {node}, and a run of agent {before} may be open", agent="changed")
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return pair.is_reached(change.node)
