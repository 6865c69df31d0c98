"""How what came of a step becomes an outcome."""

from __future__ import annotations

from typing import Any

from stagec.core.json import Json
from stagec.plan.gate import ExitGate, IntentGate, JudgeGate

END: dict[str, Any] = {"transitions": {"closing": {"target": None}}}
ON: Json = {"handoff": {"target": "closure.a"}}


def gate(flows: Any, given: dict[str, Any], fields: Json = None) -> Any:
    """Return the gate of a step of which some members are given."""
    steps = {"initial.a": {"transitions": ON, "structuredGate": given}, "closure.a": END}
    return flows.compile(steps, fields=fields).meanings[0].plan().nodes["initial.a"].gate


def test_a_gate_reads_the_intent_that_the_step_may_answer(flows: Any) -> None:
    assert gate(flows, {}) == IntentGate(("action",), ("handoff",))


def test_paths_are_split_at_dots_and_digits_stay_text(flows: Any) -> None:
    given = {"intentField": "next.0.action", "targetField": "next.to", "handoffFields": ["a", "b.1.c"]}
    assert gate(flows, given) == IntentGate(
        field=("next", "0", "action"),
        intents=("handoff",),
        target=("next", "to"),
        handoff=(("a",), ("b", "1", "c")),
    )


def test_the_fallback_counts_where_the_run_does_not_fail(flows: Any) -> None:
    lenient = gate(flows, {"failFast": False, "fallbackIntent": "handoff"})
    assert (lenient.fail_fast, lenient.fallback) == (False, "handoff")
    strict = gate(flows, {"fallbackIntent": "handoff"})
    assert (strict.fail_fast, strict.fallback) == (True, None)


def test_the_intents_are_those_that_are_listed_and_no_others(flows: Any) -> None:
    assert gate(flows, {"allowedIntents": ["repeat", "handoff", "abort"]}).intents == ("repeat", "handoff", "abort")


def test_a_step_without_a_gate_is_judged(flows: Any) -> None:
    assert flows.plan({"initial.a": {}}).nodes["initial.a"].gate == JudgeGate()


def test_a_program_tells_by_its_exit_status(flows: Any) -> None:
    plan = flows.plan({"closure.a": {**END, "runner": {"command": "make"}}})
    assert plan.nodes["closure.a"].gate == ExitGate()
