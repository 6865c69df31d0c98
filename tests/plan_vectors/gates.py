"""Which outcome an answer has, and what is kept of it for other nodes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from plan_vectors.execution import Execution
from plan_vectors.knowledge import Knowledge
from plan_vectors.tasks import Steps
from plan_vectors.texts import NOTHING, follow, text

ABORT = "abort"
_MEAN = {
    "continue": "next",
    "retry": "repeat",
    "wait": "repeat",
    "done": "closing",
    "finished": "closing",
    "pass": "next",
    "fail": "repeat",
}


def outcome(knows: Knowledge, execution: Execution, answer: Mapping[str, Any]) -> Steps:
    """Return the outcome of an answer, or nothing when there is none and the run fails."""
    gate = execution.node["gate"]
    if gate["is"] == "intent":
        return _intent(gate, answer)
    if gate["is"] == "exit":
        return "closing" if answer["exit"] == 0 else "repeat"
    knows.checks += 1
    done = yield from _judged(knows, execution, answer, knows.plan.get("judge"))
    return "verdict" if done else "next"


def _intent(gate: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
    intent = _meant(gate, answer)
    return gate.get("fallback") if intent is None and not gate.get("failFast", True) else intent


def _meant(gate: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
    found = follow(answer, gate["field"])
    read = "" if found is NOTHING or isinstance(found, (list, dict)) else text(found).lower()
    intent = _MEAN.get(read, read)
    return intent if intent in gate["intents"] or intent == ABORT else None


def readings(gate: Mapping[str, Any], answer: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return an answer with the intent in place of a word for it, if there is one, and as it is."""
    meant = _meant(gate, answer) if gate["is"] == "intent" else None
    if meant is None:
        return [answer]
    copied = json.loads(json.dumps(answer))
    *path, last = gate["field"]
    inner = follow(copied, path)
    inner[int(last) if isinstance(inner, list) else str(last)] = meant
    return [copied, answer]


def handoff(gate: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is kept of an answer under the last part of each path."""
    found = ((str(path[-1]), follow(answer, path)) for path in gate.get("handoff", ()))
    return {name: value for name, value in found if value is not NOTHING}


def _judged(knows: Knowledge, execution: Execution, answer: Any, judge: Mapping[str, Any] | None) -> Steps:
    if judge is None:
        return False
    kind, settings = judge["kind"], judge.get("settings", {})
    if kind == "meta:composite":
        return (yield from _composite(knows, execution, answer, settings))
    if kind in {"poll:state", "meta:custom"}:
        told = yield execution.ask("judge", kind=kind, settings=settings)
        return told["done"]
    if kind == "count:iteration":
        return _is_reached(knows.executions, settings.get("maxIterations"))
    if kind == "count:check":
        return _is_reached(knows.checks, settings.get("maxChecks"))
    return _detected(kind, settings, answer)


def _is_reached(count: int, most: Any) -> bool:
    return type(most) is int and count >= most


def _composite(knows: Knowledge, execution: Execution, answer: Any, settings: Mapping[str, Any]) -> Steps:
    said: list[bool] = []
    conditions = settings.get("conditions")
    for each in conditions if isinstance(conditions, list) else ():
        if not isinstance(each, dict):
            continue
        config = each.get("config")
        inner = {"kind": each.get("type"), "settings": config if isinstance(config, dict) else {}}
        said.append(each.get("type") != "meta:composite" and (yield from _judged(knows, execution, answer, inner)))
    return bool(said) and (any if settings.get("operator") in {"or", "first"} else all)(said)


def _detected(kind: str, settings: Mapping[str, Any], answer: Any) -> bool:
    if kind == "detect:keyword":
        keyword = settings.get("verdictKeyword")
        return isinstance(keyword, str) and any(
            isinstance(each, str) and keyword in each for each in _everything(answer)
        )
    if kind == "detect:structured":
        return any(isinstance(each, dict) and _is_signal(settings, each) for each in _everything(answer))
    return kind == "detect:graph" and (answer.get("status") == "completed" or answer.get("complete") is True)


def _is_signal(settings: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    if not isinstance(settings.get("signalType"), str) or found.get("type") != settings["signalType"]:
        return False
    needed = settings.get("requiredFields")
    fields = needed if isinstance(needed, dict | list) else ()
    return all(isinstance(name, str) and name in found for name in fields)


def _everything(value: Any) -> Sequence[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(each for one in inner for each in _everything(one))]
