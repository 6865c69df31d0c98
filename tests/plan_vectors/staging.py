"""Nodes that run a stage as a process: attempts, what is published and preserved, and the status of the stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plan_vectors.admitting import back_off
from plan_vectors.execution import Ended, Execution
from plan_vectors.knowledge import Knowledge
from plan_vectors.tasks import Request, Steps

Json = Mapping[str, Any]


def stage(knows: Knowledge, execution: Execution) -> Steps:
    """Make attempts until one is a success, or there may be no other."""
    act, name = execution.node["act"], execution.arrival.node
    attempts = execution.node.get("retry", {}).get("attempts", 1)
    while True:
        knows.statuses[name] = "RUNNING"
        answer = yield _execute(execution)
        how, reason = _judged(act, answer, interrupted=execution.interrupted)
        if how == "success":
            wanted = {each: answer["outputs"][each] for each in act.get("outputs", {})}
            published = yield execution.ask("publish", outputs=wanted, checkpoint=act.get("checkpoint", True))
            if not published["failed"]:
                knows.statuses[name] = "COMPLETED"
                return _over(execution, how)
            how, reason = "failure", "error"
        knows.statuses[name] = "INTERRUPTED" if how == "interrupted" else "FAILED"
        preserved = yield execution.ask("preserve", reason=reason)
        may = preserved["valid"] and act.get("retryable", True)
        knows.statuses[name] = "RESUMABLE" if may else "BLOCKED"
        if how != "failure" or not may or execution.attempt >= attempts or knows.cancelled:
            return _over(execution, how)
        yield from back_off(execution, execution.attempt)
        execution.again()


def _execute(execution: Execution) -> Request:
    act = execution.node["act"]
    asked = {member: act.get(member, [] if member == "words" else {}) for member in ("words", "inputs", "outputs")}
    return execution.ask("execute", **asked, limits=act["limits"])


def broken_off(execution: Execution) -> Ended:
    """Return what came of an execution that waits for another attempt and makes none."""
    return _over(execution, "failure")


def _over(execution: Execution, how: str) -> Ended:
    edge = next(edge for edge in execution.node["edges"] if edge["on"] == how)
    return Ended(how, {"answer": {"outcome": how}}, None, edge)


def _judged(act: Json, answer: Json, *, interrupted: bool) -> tuple[str, str]:
    """Return how an attempt has ended, and the reason of one that is no success."""
    if interrupted or answer["interrupted"] is not None:
        return "interrupted", "abort" if interrupted else answer["interrupted"]
    is_well = not answer["failed"] and answer["exit"] == 0 and not answer["changed"] and not answer["missing"]
    is_whole = all(name in answer["outputs"] for name in act.get("outputs", {}))
    is_denied = answer["status"] in {"failed", "interrupted"}
    return ("success", "") if is_well and is_whole and not is_denied else ("failure", "error")
