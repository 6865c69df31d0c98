"""The acts of nodes: one module for each act, and one for the checks before an outcome counts."""

from __future__ import annotations

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.act import Act, Converse, Delegate, Process, Prompt, Rest
from stagec.runtime.machine.acts import agent, converse, process, prompt
from stagec.runtime.machine.acts import process as command
from stagec.runtime.machine.exchange import Effect, deadline_key
from stagec.runtime.machine.execution import Execution, NodeResult, PendingMove
from stagec.runtime.machine.step_builder import StepBuilder

__all__ = ["begin_act", "resume_act"]


def begin_act(builder: StepBuilder, act: Act, execution: Execution) -> tuple[NodeResult, ...]:
    """Begin to act, and return the execution if it is over at once."""
    if isinstance(act, Prompt):
        return prompt.begin(builder, act, execution)
    if isinstance(act, Converse):
        return converse.begin(builder, act, execution)
    if isinstance(act, Process):
        return process.begin(builder, act, execution)
    if isinstance(act, Delegate):
        return agent.begin(builder, act, execution)
    if isinstance(act, Rest):
        return agent.rest(builder, execution)
    return command.begin_command(builder, act, execution)


def resume_act(builder: StepBuilder, execution: Execution, effect: Effect, answer: Json) -> tuple[NodeResult, ...]:
    """Resume with an answer of the world, and return the execution if it is over."""
    if effect.key == deadline_key(execution.key):
        return (converse.exceed_deadline(builder, execution, effect),)
    if isinstance(execution.progress, PendingMove):
        return (replace(execution.progress.result, execution=execution),)
    act = builder.nodes[execution.node].act
    if isinstance(act, Prompt):
        return prompt.resume(builder, act, execution, effect, answer)
    if isinstance(act, Converse):
        return converse.resume(builder, act, execution, effect, answer)
    if isinstance(act, Process):
        return process.resume(builder, act, execution, effect, answer)
    if isinstance(act, Delegate):
        return agent.resume(builder, act, execution, effect, answer)
    if isinstance(act, Rest):
        return ()
    return command.resume_command(builder, act, execution, effect, answer)
