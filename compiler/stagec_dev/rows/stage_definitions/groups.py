"""Answer rows about stages that run together, and their join."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from stagec.core.diagnostic import Severity
from stagec.core.json import Json
from stagec.runtime.exchange import Effect, Hook, Turn
from stagec.runtime.gate import may_join
from stagec_dev.rows.stage_definitions.projects import freeze_pipeline, machine, minimal
from stagec_dev.rows.stage_definitions.scripted import HOOK, Trace, World, find_error, run, stage_of

Given = Mapping[str, Any]
_START, _JOIN = "row-start", "row-join"
_FEWEST = 2
"""How many stages can run together; with none nothing follows, so that no run shows it."""
_TOO_FEW = "ExtensionHost/InvalidParallelPlan"
_VERDICT = {"assert": HOOK, "exit": HOOK}


def fan_out(given: Given) -> Any:
    """Run siblings that take some time each and end with some verdict."""
    siblings = {str(name): (float(delay), verdict) for name, delay, verdict in given["siblings"]}
    found, plan = freeze_pipeline(_document(list(siblings)))
    refused = [find_error(each.origin) for each in found if each.severity is Severity.ERROR]
    if any(refused) or len(siblings) < _FEWEST:
        return {"error": next(filter(None, refused), _TOO_FEW)}
    trace = run(plan, _Siblings(given, siblings).world())
    return _describe_failure(trace) or _describe_join(trace, list(siblings))


def join(given: Given) -> Any:
    """Let siblings end, and then run their join if it may run."""
    verdicts = {str(name): (0.0, verdict) for name, verdict in given["siblings"]}
    siblings = _Siblings(given, {**verdicts, _JOIN: (0.0, given.get("join"))})
    if len(verdicts) < _FEWEST:
        return {"error": _TOO_FEW}
    if "abort" not in given and not may_join([_alone(name, siblings) for name in verdicts]):
        return {"error": "ExtensionHost/JoinPreconditionViolated"}
    trace = run(freeze_pipeline(_document(list(verdicts)))[1], siblings.world())
    if trace.error is not None:
        return {"error": trace.error}
    told = _describe_join(trace, list(verdicts))
    ended = trace.facts("SessionTurnEnd", compoundTurnId=_compound(trace))
    return {"ok": True, "SessionTurnEnd": len(ended), "upstream": told["order"], "siblingKeys": sorted(told["order"])}


def _compound(trace: Trace) -> str:
    return str(next(each["compoundTurnId"] for each in trace.facts("SessionTurnStart") if "compoundTurnId" in each))


def _alone(name: str, siblings: _Siblings) -> Json:
    """Return the result that a stage hands in."""
    document = machine([minimal(name)], name, hooks={name: _VERDICT})
    trace = run(freeze_pipeline(document)[1], siblings.world())
    found: Json = next(each.given["result"] for each in trace.effects(Hook) if each.phase == "exit")
    return found


def _document(siblings: list[str]) -> dict[str, Any]:
    """Return a pipeline of a stage, some that run together after it, and their join."""
    following: dict[str, Any] = {"nextStages": siblings, "execution": "parallel", "join": _JOIN}
    first = {**minimal(_START), "next": following}
    hooks = dict.fromkeys((*siblings, _JOIN), _VERDICT)
    stages = [first, *map(minimal, siblings), minimal(_JOIN)]
    return machine(stages, _START, hooks=hooks, maxParallel=max(len(siblings), 1))


class _Siblings:
    """What the model and the author's code of each stage do: when a stage hands in, and its verdict."""

    def __init__(self, given: Given, stages: Mapping[str, tuple[float, Any]]) -> None:
        self._abort, self._stages = given.get("abort"), stages

    def world(self) -> World:
        """Return what answers the stages."""
        return World(self._answer, self._delay, _time(self._abort))

    def _answer(self, effect: Effect) -> Json:
        name = stage_of(effect)
        if isinstance(effect, Turn):
            return {"calls": [{"tool": effect.completion, "arguments": {"id": name}}]}
        if isinstance(effect, Hook) and effect.phase == "assert":
            return {"value": self._stages.get(name, (0, "ok"))[1]}
        return {"value": None}

    def _delay(self, effect: Effect) -> float:
        return self._stages.get(stage_of(effect), (0.0, ""))[0] if isinstance(effect, Turn) else 0.0


def _time(abort: Any) -> float | None:
    """Return when somebody wants a run to end: `before` everything, or after some milliseconds."""
    if abort is None:
        return None
    found = re.match(r"\d+", str(abort))
    return float(found[0]) if found is not None else -1.0


def _describe_failure(trace: Trace) -> dict[str, Json] | None:
    if trace.error is None:
        return None
    cancelled = [each["stageId"] for each in trace.facts("StageCancelled")]
    told: dict[str, Json] = {"error": trace.error, "cancelled": cancelled}
    failures = trace.facts("ParallelSiblingFailure")
    return {**told, **{key: failures[0][key] for key in ("failedSiblingId", "joinReady")}} if failures else told


def _describe_join(trace: Trace, siblings: list[str]) -> dict[str, Any]:
    """Return what the join was handed, and how many session turns the siblings have begun and ended by themselves."""
    entered = next(each for each in trace.effects(Hook) if stage_of(each) == _JOIN)
    order = [each["parsed"]["id"] for each in entered.given["ctx"]["upstream"]]
    turns = {
        name: sum(len(trace.facts(name, stageId=each)) for each in siblings)
        for name in ("SessionTurnStart", "SessionTurnEnd")
    }
    return {"joinReady": True, "n": len(order), "order": order, **turns}
