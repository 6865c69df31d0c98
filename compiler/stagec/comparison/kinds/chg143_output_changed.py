"""An output that others read is elsewhere, or is new.

## Runs in flight
A run in flight may have completed this stage. It keeps what the stage has published, which has no such output.

## What to do
Keep the old output as well until the runs in flight have ended.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.plan.act import Process


@declare_judged(
    "output {name} of stage {node} is at {after} now, where others read it, but completed stages have not left it",
    output="added changed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    return any(
        each.node == change.node and each.path == change.after
        for node in pair.new.nodes.values()
        if isinstance(node.act, Process)
        for each in node.act.inputs.values()
    )
