"""The judge asks the world other questions.

## Runs in flight
A run in flight may have asked the world whether the work is done. Its answers belong to the questions of the old
judge, one by one.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.change import PlanChange
from stagec.comparison.kind import declare_judged
from stagec.comparison.pair import PlanPair
from stagec.comparison.ways import list_questions
from stagec.plan.gate import JudgeGate


@declare_judged(
    "the judge asks the world other questions now, and a run in flight may wait for the answers to the old ones",
    judge="changed removed",
)
def judge(change: PlanChange, pair: PlanPair) -> bool | str:
    asked = [list_questions(each) for each in (change.before, change.after)]
    judged = any(isinstance(pair.old.nodes[each].gate, JudgeGate) for each in pair.reached)
    return judged and asked[0] != asked[1] and bool(asked[0]) and bool(asked[1])
