"""Gates: from a result to an outcome, § 3.7 of the format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stagec.core.canonical import as_text, compact
from stagec.core.json import MISSING, Json, follow
from stagec.ir.plan.gate import Check, IntentGate, VerdictGate
from stagec.runtime.machine.json_values import all_hold, put

ABORT = "abort"
ALIASES: Mapping[str, str] = {
    "continue": "next",
    "retry": "repeat",
    "wait": "repeat",
    "done": "closing",
    "finished": "closing",
    "pass": "next",
    "fail": "repeat",
}
"""Words that answers may use for an intent."""


def read_intent(gate: IntentGate, answer: Json) -> str | None:
    """Return the intent of an answer; None if the run has to fail because there is none."""
    meant = _read_word(gate, follow(answer, gate.field))
    return gate.fallback if meant is None and not gate.fail_fast else meant


def write_intent(gate: IntentGate, answer: Json) -> Json:
    """Return an answer with the intent in place of a word for it; an answer without such a word as it is."""
    said = follow(answer, gate.field)
    meant = _read_word(gate, said)
    return answer if meant is None or meant == said else put(answer, gate.field, meant)


def _read_word(gate: IntentGate, found: Any) -> str | None:
    """Return the allowed intent that a value names; None if it names none."""
    if found is MISSING or type(found) not in _READABLE:
        return None
    said = as_text(found).lower()
    meant = ALIASES.get(said, said)
    return meant if meant in gate.intents or meant == ABORT else None


def describe_intent(gate: IntentGate, answer: Json) -> str:
    """Return the text that an answer has in place of an allowed intent."""
    found, where = follow(answer, gate.field), ".".join(map(str, gate.field))
    said = "nothing" if found is MISSING else compact(found)
    return f"{where} is {said}, and allowed are {', '.join(gate.intents)}"


_READABLE = frozenset({str, int, float, bool})


_EXPLANATIONS = (("next_action", "reason"), ("reason",), ("message",), ("next_action", "details", "reason"))
"""Members of answers that give the reason of their intent."""


def read_explanation(answer: Json) -> str:
    """Return why an answer asks for what it does; the empty text when it does not say."""
    found = (follow(answer, path) for path in _EXPLANATIONS)
    return next((each for each in found if type(each) is str), "")


def read_handoff(gate: IntentGate, answer: Json) -> dict[str, Json]:
    """Return the parts of an answer that are kept for other nodes, by the last part of their path."""
    if not gate.handoff:
        return {}
    found = ((str(path[-1]), follow(answer, path)) for path in gate.handoff if path)
    return {key: each for key, each in found if each is not MISSING}


def read_target(gate: IntentGate, answer: Json) -> str | None:
    """Return the node that an answer names, if it names one."""
    found = follow(answer, gate.target) if gate.target is not None else MISSING
    return found if type(found) is str else None


def judge_result(gate: VerdictGate, result: Mapping[str, Json]) -> Check:
    """Return the judgement of a result; the verdict of one that no check is about is `ok`, or `retry` after a cap."""
    for check in gate.checks:
        if all_hold(check.when, result):
            return check
    return _CAPPED if result.get("capHit") else _ACCEPTED


def may_join(results: Iterable[Json]) -> bool:
    """Tell whether a join may run: every branch has ended with a result that was accepted, where there are verdicts."""
    return all(verdict_of(each) in {None, "ok"} for each in results)


def is_skipped(result: Json) -> bool:
    """Tell whether a result comes from a node that did not act; in a fork it does not count as success."""
    return verdict_of(result) == "skip"


def verdict_of(result: Json) -> Json:
    """Return the verdict in a result, null when it has none."""
    return result.get("verdict") if isinstance(result, dict) else None


_CAPPED, _ACCEPTED = Check("retry", reason="turn cap"), Check("ok")
