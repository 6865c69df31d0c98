"""Decide whether the work of a run is done, where no gate does (§ 3.13 of the format)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stagec.core.json import Json, object_of
from stagec.core.value import replace
from stagec.runtime import exchange as effects
from stagec.runtime.acts import validation
from stagec.runtime.execution import Execution, NodeResult, PendingJudgement
from stagec.runtime.step_builder import StepBuilder

_NOTHING: tuple[NodeResult, ...] = ()
_WORLDLY = frozenset({"poll:state", "meta:custom"})
_ANY = ("or", "first")
"""Operators of composites with which one condition is enough: `first` is the first that is met."""


def judge(builder: StepBuilder, execution: Execution, result: Mapping[str, Json]) -> tuple[NodeResult, ...]:
    """Judge the work after an answer: at once, or once the world has said what it knows."""
    judge = builder.program.plan.judge
    builder.change(judged=builder.now.judged + 1)
    if judge is None:
        return (NodeResult(execution, "next", result),)
    # the questions that only the world can answer, in order
    kind = judge.kind
    if kind in _WORLDLY:
        questions = [(kind, judge.settings)]
    else:
        parts = _conditions(judge.settings) if _is_composite(kind) else ()
        questions = [(each, given) for each, given in parts if each in _WORLDLY]
    return _next_question(builder, execution, PendingJudgement(result, tuple(questions)))


def resume(builder: StepBuilder, execution: Execution, answer: Json) -> tuple[NodeResult, ...]:
    """Take what the world says."""
    judgement = execution.progress
    if not isinstance(judgement, PendingJudgement):
        return _NOTHING
    done = isinstance(answer, dict) and answer.get("done") is True
    return _next_question(builder, execution, replace(judgement, answers=(*judgement.answers, done)))


def _next_question(builder: StepBuilder, execution: Execution, judgement: PendingJudgement) -> tuple[NodeResult, ...]:
    execution = replace(execution, progress=judgement)
    result, answers = judgement.result, judgement.answers
    if len(answers) < len(judgement.questions):
        kind, settings = judgement.questions[len(answers)]
        builder.request(execution, effects.Judge, kind=kind, settings=settings, answer=result["answer"])
        return _NOTHING
    judge = builder.program.plan.judge
    said = list(answers)
    done = judge is not None and _is_done(builder, judge.kind, judge.settings, result["answer"], said)
    return validation.validate(builder, NodeResult(execution, "verdict" if done else "next", result))


def _is_done(builder: StepBuilder, kind: str, settings: Mapping[str, Json], answer: Any, said: list[bool]) -> bool:
    if kind in _WORLDLY:
        return said.pop(0)
    if not _is_composite(kind):
        return _judge_answer(builder, kind, settings, answer)
    found = [
        said.pop(0) if each in _WORLDLY else _judge_answer(builder, each, given, answer)
        for each, given in _conditions(settings)
    ]
    return any(found) if settings.get("operator") in _ANY else bool(found) and all(found)


def _is_composite(kind: str) -> bool:
    return kind == "meta:composite"


def _conditions(settings: Mapping[str, Json]) -> list[tuple[str, Mapping[str, Json]]]:
    listed = settings.get("conditions")
    given = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return [(str(each.get("type")), object_of(each.get("config"))) for each in given]


def _judge_answer(builder: StepBuilder, kind: str, settings: Mapping[str, Json], answer: Any) -> bool:
    """Judge by what can be seen in the answer, or counted."""
    match kind:
        case "count:iteration":
            return _is_reached(builder.now.executions, settings.get("maxIterations"))
        case "count:check":
            return _is_reached(builder.now.judged, settings.get("maxChecks"))
        case "detect:keyword":
            keyword = settings.get("verdictKeyword")
            return isinstance(keyword, str) and any(keyword in each for each in _inside(answer) if type(each) is str)
        case "detect:structured":
            return any(_is_signal(each, settings) for each in _inside(answer))
        case "detect:graph":
            return answer.get("status") == "completed" or answer.get("complete") is True
        case _:
            return False


def _is_reached(count: int, most: Json) -> bool:
    return type(most) is int and count >= most


def _inside(answer: Any) -> list[Any]:
    """Return a value and everything in it, whatever its depth."""
    found = [answer]
    for each in found:  # grows while it is walked
        if type(each) is dict:
            found.extend(each.values())
        elif type(each) is list:
            found.extend(each)
    return found


def _is_signal(given: Any, settings: Mapping[str, Json]) -> bool:
    signal, needed = settings.get("signalType"), settings.get("requiredFields")
    fields = needed if isinstance(needed, list) else list(needed) if isinstance(needed, dict) else []
    if type(given) is not dict or type(signal) is not str or given.get("type") != signal:
        return False
    return all(type(each) is str and each in given for each in fields)
