"""Rows about running, as they may be written: what a row leaves out, says in another way, or says more than once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.rows import Agreement, Row
from stagec_dev.rows.flows import ROUTING
from stagec_dev.rows.stage_definitions import runs

TOKEN = {"stageExecutionId": "s", "attempt": 1, "proposalId": "p", "tool": "bash", "argsDigest": "a" * 64}
APPROVED, GRANTED = ({"kind": "approve", "source": source} for source in ("sm-envelope", "sm-grant-token"))
DENIED = {"kind": "deny", "source": "guard", "code": "X"}
USED = {"kind": "deny", "source": "sm-grant-token", "code": "GrantAlreadyConsumed"}
TOO_FEW = {"error": "ExtensionHost/InvalidParallelPlan"}


@pytest.mark.parametrize(
    ("stem", "given", "wanted"),
    [
        (
            "approval-stack",
            {"tool": "bash", "sm": {"allowedTools": ["bash"]}, "mode": "ask", "guard": [None, "X"], "repeat": 2},
            [DENIED, DENIED],
        ),
        (
            "approval-stack",
            {
                "tool": "bash",
                "sm": {"allowedTools": [], "grant": "approve"},
                "mode": "yolo",
                "guard": ["X"],
                "repeat": 2,
            },
            [DENIED, USED],
        ),
        (
            "approval-stack",
            {"tool": "bash", "sm": {"allowedTools": [], "grant": "approve"}, "mode": "ask", "guard": [None]},
            GRANTED,
        ),
        ("approval-stack", {"tool": "bash", "sm": {"allowedTools": ["bash"]}, "mode": "allowlist"}, APPROVED),
        ("args-digest", {}, {"sha256": None}),
        ("fan-out", {"siblings": []}, TOO_FEW),
        ("fan-out", {"siblings": [["a", 0, "ok"]], "abort": "before"}, TOO_FEW),
        (
            "fan-out",
            {"siblings": [["a", 9, "ok"], ["b", 1, "fail"], ["c", 5, "ok"]]},
            {"failedSiblingId": "b", "cancelled": ["a", "c"], "joinReady": False},
        ),
        (
            "fan-out",
            {"siblings": [["a", 5, "fail"], ["b", 5, "ok"]], "abort": "5ms"},
            {"error": "Cancellation/TurnCancelled", "cancelled": ["a", "b"]},
        ),
        ("join", {"siblings": []}, TOO_FEW),
        ("join", {"siblings": [["a", "ok"], ["b", "ok"]]}, {"ok": True}),
        (
            "run-stage",
            {"gate": "proceed", "assertVerdict": "throw"},
            {"applicable": False, "error": "ExtensionHost/LifecycleFailure", "phase": "Assert"},
        ),
        ("run-stage", {"gate": "retry"}, {"applicable": False, "phase": "CheckGate"}),
        ("run-stage", {"gate": "defer"}, {"assertOutcome": "fail", "hooks": ["exit"]}),
        ("loop-bound", {"kind": "sm", "max": 3, "script": "always-two-tools"}, {"llmTurns": 3, "toolCallRounds": 3}),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_row_is_answered(stem: str, given: dict[str, Any], wanted: Any) -> None:
    got = runs.CASES[stem].answer(given)
    if isinstance(wanted, list):
        assert got == wanted
    else:
        assert {key: got.get(key) for key in wanted} == wanted


@pytest.mark.parametrize("expected", [["approve"], []], ids=["said", "left open"])
def test_what_a_step_comes_to_may_be_left_open(expected: list[str]) -> None:
    given = {"steps": [["issue", TOKEN, "approve"], ["consume", TOKEN, *expected]]}
    case = runs.CASES["grant-token-sequences"]
    assert runs.compare(case, given, case.answer(given)) is Agreement.AGREE


STEP = {
    "stepId": "closure.issue",
    "name": "Close",
    "c2": "closure",
    "c3": "issue",
    "structuredGate": {
        "allowedIntents": ["closing", "repeat"],
        "intentSchemaRef": "#/properties/action",
        "intentField": "action",
        "handoffFields": ["found"],
    },
    "transitions": {"closing": {"target": None}, "repeat": {"target": "closure.issue"}},
}
REGISTRY = {
    "agentId": "small",
    "version": "1.0.0",
    "c1": "steps",
    "entryStep": "closure.issue",
    "steps": {"closure.issue": STEP},
}


@pytest.mark.parametrize(
    ("action", "note", "wanted", "agreement"),
    [
        ("done", None, {"intent": "closing", "next": "closure.issue", "signalClosing": True}, Agreement.AGREE),
        ("wait", None, {"intent": "repeat", "next": "closure.issue", "signalClosing": False}, Agreement.AGREE),
        ("abort", "R1: always allowed", {"phase": "gate"}, Agreement.AGREE),
        ("abort", None, {"intent": "abort", "next": "closure.issue", "signalClosing": True}, Agreement.AGREE),
        ("next", "R1: always allowed", {"phase": "gate"}, Agreement.DISAGREE),
        ("next", None, {"phase": "gate"}, Agreement.AGREE),
    ],
)
def test_an_output_of_a_step_is_routed(
    tmp_path: Path, action: str, note: str | None, wanted: dict[str, Any], agreement: Agreement
) -> None:
    (tmp_path / "small").mkdir()
    (tmp_path / "small" / "steps_registry.json").write_text(json.dumps(REGISTRY), encoding="utf-8")
    given = {"agent": "small", "stepId": "closure.issue", "output": {"action": action, "found": 1}}
    row = Row("routing/routing.json", "1", {**given, "upstream": wanted, "note": note})
    assert ROUTING.compare(row, ROUTING.answer(tmp_path, row)) is agreement
