"""The act of a stage: its phases in order (§ 3.6 of the format)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.plan.act import Converse
from stagec.runtime.acts import check_gate, conclusion, message_loop, setup
from stagec.runtime.acts.conclusion import Conclusion
from stagec.runtime.acts.conversation_state import conversation_of
from stagec.runtime.exchange import Call, Confirm, Effect, Grant, Hook, Turn, Wait
from stagec.runtime.execution import Execution, NodeResult
from stagec.runtime.step_builder import StepBuilder

_NOTHING: tuple[NodeResult, ...] = ()
_UNREADABLE: Mapping[str, Json] = {"error": "the answer is no object"}


def begin(builder: StepBuilder, act: Converse, execution: Execution) -> tuple[NodeResult, ...]:
    """Set the stage up and go on as far as nobody has to be asked."""
    return _after_setup(builder, act, setup.begin(builder, act, execution))


def resume(
    builder: StepBuilder, act: Converse, execution: Execution, effect: Effect, answer: Json
) -> tuple[NodeResult, ...]:
    """Resume with an answer of the world."""
    given: Mapping[str, Json] = answer if isinstance(answer, dict) else _UNREADABLE
    match effect:
        case Hook(phase="setup"):
            return _after_setup(builder, act, setup.resume(builder, act, execution, given))
        case Hook(phase="gate") | Confirm():
            return _after_gate(builder, act, check_gate.resume(builder, execution, effect, given))
        case Hook(phase="assert" | "exit"):
            return _finish(conclusion.resume(builder, execution, effect, given))
        case Wait():
            return _after_wait(builder, act, execution)
        case Turn() | Call() | Grant() | Hook():
            return _after_act(builder, message_loop.resume(builder, act, execution, effect, given))
        case _:
            return _NOTHING


def _after_setup(builder: StepBuilder, act: Converse, found: Execution | NodeResult | None) -> tuple[NodeResult, ...]:
    """Ask for admission once the prompt is made."""
    if isinstance(found, Execution):
        return _after_gate(builder, act, check_gate.ask(builder, found))
    return _finish(found)


def _after_gate(builder: StepBuilder, act: Converse, found: Execution | NodeResult | None) -> tuple[NodeResult, ...]:
    """Act once the stage is admitted."""
    if isinstance(found, Execution):
        return _after_act(builder, message_loop.begin(builder, act, found))
    return _finish(found)


def _after_wait(builder: StepBuilder, act: Converse, execution: Execution) -> tuple[NodeResult, ...]:
    """Begin another attempt, or ask for admission again."""
    if conversation_of(execution).result:
        return _after_act(builder, message_loop.retry(builder, act, execution))
    return _after_gate(builder, act, check_gate.ask(builder, execution))


def _after_act(builder: StepBuilder, over: Conclusion | None) -> tuple[NodeResult, ...]:
    """Judge an attempt that is over."""
    return _NOTHING if over is None else _finish(conclusion.conclude(builder, over))


def _finish(found: NodeResult | None) -> tuple[NodeResult, ...]:
    return _NOTHING if found is None else (found,)
