"""What executions do while they act: one module for each act, and one for what happens before an outcome counts."""

from __future__ import annotations

from stagec.core.json import Json
from stagec.plan.act import Act, Converse, Prompt
from stagec.runtime.acts import commanding, conversing, prompting
from stagec.runtime.effect import Effect
from stagec.runtime.finished import Finished
from stagec.runtime.moment import Moment
from stagec.runtime.state import Execution

__all__ = ["answer_act", "begin_act"]


def begin_act(moment: Moment, act: Act, execution: Execution) -> tuple[Finished, ...]:
    """Begin to act, and return the execution if it is over at once."""
    if isinstance(act, Prompt):
        return prompting.begin(moment, act, execution)
    if isinstance(act, Converse):
        return conversing.begin(moment, act, execution)
    return commanding.begin(moment, act, execution)


def answer_act(moment: Moment, execution: Execution, effect: Effect, answer: Json) -> tuple[Finished, ...]:
    """Go on with what the world has answered, and return the execution if it is over."""
    act = moment.nodes[execution.node].act
    if isinstance(act, Prompt):
        return prompting.answered(moment, act, execution, effect, answer)
    if isinstance(act, Converse):
        return conversing.answered(moment, act, execution, effect, answer)
    return commanding.answered(moment, act, execution, effect, answer)
