"""Let a model work with tools until it hands in its result: the phases of a stage, in order (§ 3.6 of the format)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.plan.act import Converse
from stagec.runtime.acts import admitting, concluding, preparing, talking
from stagec.runtime.acts.conclusion import Conclusion
from stagec.runtime.acts.talk import talk_of
from stagec.runtime.effect import Call, Confirm, Effect, Grant, Hook, Turn, Wait
from stagec.runtime.finished import Finished
from stagec.runtime.moment import Moment
from stagec.runtime.state import Execution

_NOTHING: tuple[Finished, ...] = ()
_UNREADABLE: Mapping[str, Json] = {"error": "the answer is no object"}


def begin(moment: Moment, act: Converse, execution: Execution) -> tuple[Finished, ...]:
    """Set the stage up and go on as far as nobody has to be asked."""
    return _prepared(moment, act, preparing.begin(moment, act, execution))


def answered(moment: Moment, act: Converse, execution: Execution, effect: Effect, answer: Json) -> tuple[Finished, ...]:
    """Go on with what the world has answered."""
    given: Mapping[str, Json] = answer if isinstance(answer, dict) else _UNREADABLE
    match effect:
        case Hook(phase="setup"):
            return _prepared(moment, act, preparing.answered(moment, act, execution, given))
        case Hook(phase="gate") | Confirm():
            return _admitted(moment, act, admitting.answered(moment, execution, effect, given))
        case Hook(phase="assert" | "exit"):
            return _over(concluding.answered(moment, execution, effect, given))
        case Wait():
            return _waited(moment, act, execution)
        case Turn() | Call() | Grant() | Hook():
            return _acted(moment, talking.answered(moment, act, execution, effect, given))
        case _:
            return _NOTHING


def _prepared(moment: Moment, act: Converse, found: Execution | Finished | None) -> tuple[Finished, ...]:
    """Ask for admission once the prompt is made."""
    if isinstance(found, Execution):
        return _admitted(moment, act, admitting.ask(moment, found))
    return _over(found)


def _admitted(moment: Moment, act: Converse, found: Execution | Finished | None) -> tuple[Finished, ...]:
    """Act once the stage is admitted."""
    if isinstance(found, Execution):
        return _acted(moment, talking.begin(moment, act, found))
    return _over(found)


def _waited(moment: Moment, act: Converse, execution: Execution) -> tuple[Finished, ...]:
    """Begin another attempt, or ask for admission again."""
    if talk_of(execution).result:
        return _acted(moment, talking.again(moment, act, execution))
    return _admitted(moment, act, admitting.ask(moment, execution))


def _acted(moment: Moment, over: Conclusion | None) -> tuple[Finished, ...]:
    """Judge an attempt that is over."""
    return _NOTHING if over is None else _over(concluding.conclude(moment, over))


def _over(found: Finished | None) -> tuple[Finished, ...]:
    return _NOTHING if found is None else (found,)
