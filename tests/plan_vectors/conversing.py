"""Nodes that let a model work with tools until it calls the completion tool."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from plan_vectors.admitting import admit, back_off, unacted
from plan_vectors.execution import Execution
from plan_vectors.knowledge import Knowledge
from plan_vectors.schemas import satisfies
from plan_vectors.tasks import Steps, Together
from plan_vectors.texts import HoleError, holds, render, text, written

Call = Mapping[str, Any]
Told = list[dict[str, Any]]


_RESERVED = {"upstream", "workflowRunId", "stageExecutionId", "attempts", "host"}


class Attempt(NamedTuple):
    """What one attempt came to: what was handed in, or that all turns were taken."""

    parsed: Any = None
    capped: bool = False
    failed: bool = False
    told: Sequence[Mapping[str, Any]] = ()
    """What the model was not told any more."""


def converse(knows: Knowledge, execution: Execution) -> Steps:
    """Return the result of the node."""
    context = _context(knows, execution)
    system = _system(knows, execution, context)
    if system is None:
        return unacted("fail", "init-failed")
    kept_out = yield from admit(execution, context)
    return kept_out or (yield from _attempts(knows, execution, system))


def _context(knows: Knowledge, execution: Execution) -> dict[str, Any]:
    upstream = list(execution.arrival.handed)
    element = execution.arrival.branch.element()
    inputs = {name: value for name, value in knows.inputs.items() if name not in _RESERVED | element.keys()}
    given = {"upstream": upstream, "workflowRunId": execution.run, "stageExecutionId": execution.id}
    return {**inputs, **element, **given}


def _system(knows: Knowledge, execution: Execution, context: Mapping[str, Any]) -> str | None:
    act = execution.node["act"]
    accepts = knows.contents[act["accepts"]] if "accepts" in act else "true"
    if act["completion"] in act["tools"] or not all(satisfies(result, accepts) for result in context["upstream"]):
        return None
    try:
        return render(act["prompt"], {"ctx": context}, knows.contents)
    except HoleError:
        return None


def _attempts(knows: Knowledge, execution: Execution, system: str) -> Steps:
    most = execution.node.get("retry", {}).get("attempts", 1)
    told: Told = [{"is": "system", "text": system}]
    for number in range(1, most + 1):
        attempt = yield from _attempt(knows, execution, told)
        if attempt.failed:
            return {"verdict": "fail", "reason": "provider-failed", "capHit": False, "attemptCount": number}
        result = _result(attempt, number)
        verdict, reason = _verdict(execution.node["gate"], result)
        if verdict != "retry":
            return {**result, "verdict": verdict, "reason": reason}
        if number < most:
            yield from back_off(execution, number)
            execution.again()
            told = [*attempt.told, {"is": "again", "text": reason}]
    return {**result, "verdict": "fail", "reason": "retry-exhausted"}


def _result(attempt: Attempt, number: int) -> dict[str, Any]:
    parsed = {} if attempt.capped else {"parsed": attempt.parsed}
    return {"verdict": "ok", "reason": "", **parsed, "capHit": attempt.capped, "attemptCount": number}


def _verdict(gate: Mapping[str, Any], result: Mapping[str, Any]) -> tuple[str, str]:
    for check in gate.get("checks", ()):
        if holds(check.get("when", ()), result):
            return check["verdict"], check.get("reason", "")
    return ("retry", "turn cap") if result["capHit"] else ("ok", "")


def _attempt(knows: Knowledge, execution: Execution, told: Told) -> Steps:
    act = execution.node["act"]
    for number in range(1, act["turns"] + 1):
        offered = {"tools": act["tools"], "completion": act["completion"], "schema": act["schema"]}
        turn = yield execution.ask("turn", **offered, told=told)
        if turn["failed"]:
            return Attempt(failed=True)
        calls = [{**call, "id": call["id"] or f"{number}.{index}"} for index, call in enumerate(turn["calls"])]
        alone = len(calls) == 1 and _is_completion(calls[0], act)
        if alone and _is_result(calls[0]["arguments"], knows.contents[act["schema"]]):
            return Attempt(calls[0]["arguments"], told=[{"is": "accepted", "call": calls[0]["id"]}])
        if alone:
            told = [{"is": "wrong", "call": calls[0]["id"]}]
        else:
            told = yield from _answers(execution, calls)
    return Attempt(capped=True, told=told)


def _is_result(argument: Any, schema: str) -> bool:
    return isinstance(argument, dict) and satisfies(argument, schema)


def _is_completion(call: Call, act: Mapping[str, Any]) -> bool:
    return bool(call["tool"] == act["completion"])


def _answers(execution: Execution, calls: Sequence[Call]) -> Steps:
    """Return what the model is told after a turn that does not complete."""
    if not calls:
        return [{"is": "reminder"}]
    if any(_is_completion(call, execution.node["act"]) for call in calls):
        return [{"is": "alone", "call": call["id"]} for call in calls]
    decided = yield from _all_authorised(execution, calls)
    return (yield Together(_carried_out(execution, call, why_not) for call, why_not in decided))


def _all_authorised(execution: Execution, calls: Sequence[Call]) -> Steps:
    """Return each call with why it is not carried out; they are decided one after the other."""
    decided: list[tuple[Call, str]] = []
    for call in calls:
        why_not = yield from _authorised(execution, call)
        decided.append((call, why_not))
    return decided


def _authorised(execution: Execution, call: Call) -> Steps:
    """Return why a call is not carried out, or the empty text."""
    if not call["tool"] or not isinstance(call["arguments"], dict):
        return "unread"
    if call["tool"] in execution.node["act"]["tools"]:
        return ""
    grant = (execution.attempt, call["id"], call["tool"], _digest(call["arguments"]))
    if grant in execution.used:
        return "used"
    answer = yield execution.ask("grant", tool=call["tool"], digest=grant[-1])
    if not answer["granted"]:
        return "denied"
    execution.used.add(grant)
    return ""


def _carried_out(execution: Execution, call: Call, why_not: str) -> Steps:
    """Return what the model is told of one call."""
    if why_not:
        return {"is": why_not, "call": call["id"]}
    answer = yield execution.ask("call", tool=call["tool"], arguments=call["arguments"])
    failed = {"is": "error", "call": call["id"]}
    return {"is": "value", "call": call["id"], "text": text(answer["value"])} if "value" in answer else failed


def _digest(arguments: Any) -> str:
    return hashlib.sha256(written(arguments, sorted).encode()).hexdigest()
