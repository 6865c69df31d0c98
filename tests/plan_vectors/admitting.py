"""Whether a converse node may act, as its admission says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plan_vectors.execution import Execution
from plan_vectors.tasks import Steps
from plan_vectors.texts import holds

UNRESOLVED = "gate-unresolved"
_LONGEST = 24 * 60 * 60 * 1000


def admit(execution: Execution, context: Mapping[str, Any]) -> Steps:
    """Return the result of a node that does not act, or nothing when it does."""
    policy = _policy(execution.node.get("admission", {}), context)
    if policy is None:
        return None
    if policy == "skip":
        return unacted("skip", "skipped")
    if policy == "ask" and (yield execution.ask("confirm"))["yes"]:
        return None
    if policy == "retry-later":
        yield from _waits(execution)
    return unacted("fail", UNRESOLVED)


def unacted(verdict: str, reason: str) -> dict[str, Any]:
    """Return the result of a node that has not acted."""
    return {"verdict": verdict, "reason": reason, "capHit": False, "attemptCount": 0}


def _policy(admission: Mapping[str, Any], context: Mapping[str, Any]) -> str | None:
    """Return what happens to a node that may not act now."""
    for terms, policy in (("block", "onBlock"), ("defer", "onDefer")):
        if admission.get(terms) and holds(admission[terms], {"ctx": context}):
            return str(admission[policy])
    return None


def _waits(execution: Execution) -> Steps:
    """Wait as often as may be asked again; terms over a context that does not change hold again."""
    for number in range(1, execution.node.get("retry", {}).get("attempts", 1)):
        yield from back_off(execution, number)


def back_off(execution: Execution, number: int) -> Steps:
    """Wait before the next attempt, after so many attempts; it may be a wait of no length."""
    backoff = execution.node.get("retry", {}).get("backoff", {})
    first = backoff.get("milliseconds", 0)
    lengths = {"none": 0, "fixed": first, "exponential": first * 2 ** (number - 1)}
    yield execution.ask("wait", milliseconds=min(_LONGEST, lengths[backoff.get("kind", "none")]))
