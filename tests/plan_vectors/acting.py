"""What an execution does from its beginning to the edge that is taken, or to what happens instead of an edge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plan_vectors.commanding import command
from plan_vectors.conversing import converse
from plan_vectors.execution import Ended, Execution
from plan_vectors.gates import ABORT, handoff, outcome
from plan_vectors.knowledge import Knowledge
from plan_vectors.prompting import prompt
from plan_vectors.staging import stage
from plan_vectors.tasks import Steps
from plan_vectors.texts import NOTHING, follow, holds
from plan_vectors.validating import cannot_do_its_work, failure, next_prompt

_ENDING = {"closing", "verdict"}


def execute(knows: Knowledge, execution: Execution, prompts: Mapping[str, str]) -> Steps:
    """Act, and wait before the edge that is taken, if it says so."""
    return (yield from _lead(execution, (yield from _decide(knows, execution, prompts))))


def expire(execution: Execution) -> Steps:
    """Fail because the deadline of an execution has passed, and go on as after any failure."""
    result = {"verdict": "fail", "reason": "deadline-exceeded", "capHit": False, "attemptCount": execution.attempt}
    return (yield from _lead(execution, _chosen(execution, "fail", result, {})))


def _lead(execution: Execution, over: Ended) -> Steps:
    execution.deadline = None
    if over.edge is not None and over.edge.get("wait"):
        execution.rests = True
        yield execution.ask("wait", milliseconds=over.edge["wait"])
    return over


def _decide(knows: Knowledge, execution: Execution, prompts: Mapping[str, str]) -> Steps:
    """Act, find the outcome, choose the edge, and validate where it ends the work."""
    if execution.node["act"]["is"] == "converse":
        result = yield from converse(knows, execution)
        return _chosen(execution, "fail" if result["verdict"] == "fail" else "ok", result, {})
    if execution.node["act"]["is"] == "process":
        return (yield from stage(knows, execution))
    if execution.node["act"]["is"] == "prompt" and (yield from failure(knows, execution, "preflight")) is not None:
        return Ended(failed="preflight")
    answer = yield from _answered(knows, execution, prompts)
    if answer is None:
        return Ended(failed="answer" if execution.node["act"]["is"] == "prompt" else "command")
    found = yield from outcome(knows, execution, answer)
    if found is None:
        return Ended(failed="intent")
    kept = handoff(execution.node["gate"], answer)
    result, record = {"answer": answer, "handoff": kept}, kept or answer
    over = _repeated(knows, execution, Ended(found, result, record))
    if over is None and _is_guarded(execution, found):
        over = yield from _validated(knows, execution, Ended(found, result, record))
    return over or _chosen(execution, found, result, record)


def _is_guarded(execution: Execution, outcome: str) -> bool:
    validation = execution.node.get("validation", {})
    ends = outcome in _ENDING or (validation.get("everyOutcome", False) and outcome not in {"repeat", ABORT})
    return bool(ends and validation.get("conditions"))


def _repeated(knows: Knowledge, execution: Execution, ended: Ended) -> Ended | None:
    """Count a repeat, and return the end of the run when it is one too many."""
    bound, node = execution.node["act"].get("repeats"), execution.arrival.node
    if bound is None or ended.outcome != "repeat":
        knows.repeats.pop(node, None)
        return None
    if knows.repeats.get(node, 0) == len(bound):
        return ended._replace(failed="repeats")
    knows.repeats[node] = knows.repeats.get(node, 0) + 1
    return None


def _answered(knows: Knowledge, execution: Execution, prompts: Mapping[str, str]) -> Steps:
    if execution.node["act"]["is"] == "command":
        return (yield from command(knows, execution))
    return (yield from prompt(knows, execution, prompts))


def _chosen(execution: Execution, outcome: str, result: Mapping[str, Any], record: Any) -> Ended:
    if execution.arrival.begins and outcome != "fail":
        return Ended(outcome, result, record)
    edge = next((edge for edge in execution.node["edges"] if _allows(execution, edge, outcome, result)), None)
    if edge is None:
        return Ended(outcome, result, record, failed="abort" if outcome == ABORT else "no-edge")
    return Ended(outcome, result, record, edge)


def _allows(execution: Execution, edge: Mapping[str, Any], outcome: str, result: Mapping[str, Any]) -> bool:
    if edge["on"] != outcome or not holds(edge.get("when", ()), result):
        return False
    return edge["target"]["is"] != "named" or named(execution.node, result) in edge["target"]["nodes"]


def named(node: Mapping[str, Any], result: Mapping[str, Any]) -> str | None:
    """Return the name that the answer gives to the node that is next."""
    path = node["gate"].get("target")
    found = NOTHING if path is None else follow(result["answer"], path)
    return found if isinstance(found, str) else None


def _validated(knows: Knowledge, execution: Execution, ended: Ended) -> Steps:
    """Return what happens instead of an edge, once the end of the work is checked; nothing when an edge is taken."""
    validation, node = execution.node["validation"], execution.arrival.node
    failed = yield from failure(knows, execution)
    if failed is None:
        knows.failures.pop(node, None)
        return None
    knows.failures[node] = knows.failures.get(node, 0) + 1
    action = validation.get("action", "retry")
    if action == "abort" or cannot_do_its_work(failed):
        return ended._replace(failed="validation")
    if action == "skip":
        return None
    if knows.failures[node] >= validation.get("attempts", 3):
        return ended._replace(failed="validation")
    return ended._replace(again=next_prompt(knows, validation, failed), stays=ended.outcome not in _ENDING)
