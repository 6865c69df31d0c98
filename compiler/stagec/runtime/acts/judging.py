"""Whether the work of a run is done, where no gate says so (§ 3.13 of the format)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.runtime import effect as effects
from stagec.runtime.acts import validating
from stagec.runtime.finished import Finished
from stagec.runtime.moment import Moment
from stagec.runtime.state import Execution

_NOTHING: tuple[Finished, ...] = ()
_WORLDLY = frozenset({"poll:state", "meta:custom"})
_ANY = ("or", "first")
"""Operators of composites with which one condition is enough: `first` is the first that is met."""


def judge(moment: Moment, execution: Execution, result: Mapping[str, Json]) -> tuple[Finished, ...]:
    """Judge the work after an answer: at once, or once the world has said what it knows."""
    judge = moment.program.plan.judge
    moment.judged += 1
    if judge is None:
        return (Finished(execution, "next", result),)
    questions = tuple(_worldly(judge.kind, judge.settings))
    return _next_question(moment, replace(execution, detail=(result, questions, ())))


def decided(moment: Moment, execution: Execution, answer: Json) -> tuple[Finished, ...]:
    """Take what the world says."""
    result, questions, known = execution.detail
    done = isinstance(answer, dict) and answer.get("done") is True
    return _next_question(moment, replace(execution, detail=(result, questions, (*known, done))))


def _next_question(moment: Moment, execution: Execution) -> tuple[Finished, ...]:
    result, questions, known = execution.detail
    if len(known) < len(questions):
        kind, settings = questions[len(known)]
        moment.request(execution, effects.Judge, kind=kind, settings=settings, answer=result["answer"])
        return _NOTHING
    judge = moment.program.plan.judge
    said = list(known)
    done = judge is not None and _is_done(moment, judge.kind, judge.settings, result["answer"], said)
    return validating.validated(moment, Finished(execution, "verdict" if done else "next", result))


def _worldly(kind: str, settings: Mapping[str, Json]) -> list[tuple[str, Mapping[str, Json]]]:
    """Return the questions that only the world can answer, in order."""
    if kind in _WORLDLY:
        return [(kind, settings)]
    return [(each, given) for each, given in _conditions(settings) if each in _WORLDLY] if _is_composite(kind) else []


def _is_done(moment: Moment, kind: str, settings: Mapping[str, Json], answer: Any, said: list[bool]) -> bool:
    if kind in _WORLDLY:
        return said.pop(0)
    if not _is_composite(kind):
        return _found(moment, kind, settings, answer)
    found = [
        said.pop(0) if each in _WORLDLY else _found(moment, each, given, answer)
        for each, given in _conditions(settings)
    ]
    return any(found) if settings.get("operator") in _ANY else bool(found) and all(found)


def _is_composite(kind: str) -> bool:
    return kind == "meta:composite"


def _conditions(settings: Mapping[str, Json]) -> list[tuple[str, Mapping[str, Json]]]:
    listed = settings.get("conditions")
    given = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return [(str(each.get("type")), _object(each.get("config"))) for each in given]


def _object(given: Json) -> Mapping[str, Json]:
    return given if isinstance(given, dict) else {}


def _found(moment: Moment, kind: str, settings: Mapping[str, Json], answer: Any) -> bool:
    """Judge by what can be seen in the answer, or counted."""
    match kind:
        case "count:iteration":
            return _reached(moment.executions, settings.get("maxIterations"))
        case "count:check":
            return _reached(moment.judged, settings.get("maxChecks"))
        case "detect:keyword":
            keyword = settings.get("verdictKeyword")
            return isinstance(keyword, str) and any(keyword in each for each in _inside(answer) if type(each) is str)
        case "detect:structured":
            return any(_is_signal(each, settings) for each in _inside(answer))
        case "detect:graph":
            return answer.get("status") == "completed" or answer.get("complete") is True
        case _:
            return False


def _reached(count: int, most: Json) -> bool:
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
