"""One stage: how its attempts are judged, tried again, published and preserved, and which statuses it has."""

from __future__ import annotations

from typing import Any

import pytest
from handmade import process, scheduled
from runtime.processes.play import Play, succeed

from stagec.core.json import Json
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import Answered
from stagec.runtime.machine.exchange import Execute, Preserve, Publish
from stagec.runtime.machine.failures import FailureKind

NODE = "S01_load_data"


def play(**act: Any) -> Play:
    return Play(scheduled({NODE: process(outputs={"table": "t.csv"}, **act)}, {NODE: ()}))


def execute(run: Play) -> Execute:
    effect = run.find(f"execute {NODE}")
    assert isinstance(effect, Execute)
    return effect


def test_a_stage_is_executed_published_and_completed() -> None:
    run = play(words=("python", "load.py"))
    effect = execute(run)
    assert (effect.key, effect.node, effect.words) == (f"r/{NODE}#1/1.0", NODE, ("python", "load.py"))
    assert run.statuses == {NODE: "RUNNING"}
    run.tell(Answered(effect.key, succeed(effect)))
    publish = run.find(f"publish {NODE}")
    assert isinstance(publish, Publish)
    assert publish.key == f"r/{NODE}#1/1.1"
    assert publish.outputs == succeed(effect)["outputs"]
    assert publish.checkpoint
    assert run.statuses == {NODE: "RUNNING"}
    run.tell(Answered(publish.key, {"checkpoint": "ckpt-1"}))
    assert (run.state.ended, run.statuses, run.open) == (Outcome.DONE, {NODE: "COMPLETED"}, [])
    facts = [each.facts for each in run.steps[-1].trace if each.name == "StageStatusChanged"]
    assert [(each["from"], each["to"], each["checkpoint"], each["seconds"]) for each in facts] == [
        ("RUNNING", "COMPLETED", "ckpt-1", 2.0)
    ]


FAULTS: list[tuple[Json, str]] = [
    ({"exit": 3}, "exit 3"),
    ({"exit": None}, "no exit status"),
    ({"exit": True}, "no exit status"),
    ({"exit": "0"}, "no exit status"),
    ({"exit": 0.5}, "no exit status"),
    ({}, "no exit status"),
    (None, "the answer is no object"),
    ("x", "the answer is no object"),
    ([], "the answer is no object"),
    ({"exit": 0}, "nothing is known of its output 'table'"),
    ({"exit": 0, "outputs": []}, "nothing is known of its output 'table'"),
    ({"exit": 0, "outputs": {"table": "t.csv"}}, "nothing is known of its output 'table'"),
    ({"exit": 0, "outputs": {"table": {"path": "t.csv", "sha256": "0"}}}, "nothing is known of its output 'table'"),
    ({"missing": ["table"]}, "has not left 'table'"),
    ({"missing": [5]}, "has not left '?'"),
    ({"changed": ["wine"]}, "has changed meanwhile: 'wine'"),
    ({"status": "failed"}, "its own marker says failed"),
    ({"status": "interrupted"}, "its own marker says interrupted"),
    ({"error": "no space"}, "no space"),
    ({"error": {"code": "ENOSPC", "message": "no space"}}, "ENOSPC, no space"),
]
"""Answers that are no success: those without a status have what a success has besides."""


@pytest.mark.parametrize(("given", "told"), FAULTS, ids=[f"{at}-{told}" for at, (_, told) in enumerate(FAULTS)])
def test_what_is_no_success_is_a_failure_and_preserved(given: Json, told: str) -> None:
    run = play(retryable=False)
    effect = execute(run)
    whole = isinstance(given, dict) and "exit" not in given and given
    run.tell(Answered(effect.key, succeed(effect, **given) if isinstance(given, dict) and whole else given))
    preserve = run.find(f"preserve {NODE}")
    assert isinstance(preserve, Preserve)
    assert (preserve.reason, run.statuses) == ("error", {NODE: "FAILED"})
    run.tell(Answered(preserve.key, {"checkpoint": "e", "valid": True}))
    assert (run.state.ended, run.statuses) == (Outcome.FAILED, {NODE: "BLOCKED"})
    assert run.state.failure is not None
    assert run.state.failure.kind is FailureKind.STAGE_FAILED
    assert told in run.state.failure.detail


@pytest.mark.parametrize(
    "more",
    [
        {"status": "success"},
        {"status": "perfect"},
        {"status": 5},
        {"missing": []},
        {"missing": "table"},
        {"changed": {}},
        {"error": None},
        {"interrupted": None},
        {"interrupted": "other"},
        {"seconds": "long"},
        {"exit": 0.0},
    ],
)
def test_what_says_nothing_against_a_success_is_none(more: dict[str, Json]) -> None:
    run = play()
    effect = execute(run)
    run.tell(Answered(effect.key, succeed(effect, **more)))
    assert run.open == [f"publish {NODE}"]


@pytest.mark.parametrize(("cause", "exit_status"), [("timeout", None), ("abort", -9), ("timeout", 0)])
def test_an_interrupted_stage_is_never_tried_again_by_itself(cause: str, exit_status: int | None) -> None:
    run = play()
    effect = execute(run)
    run.tell(Answered(effect.key, succeed(effect, interrupted=cause, exit=exit_status)))
    preserve = run.find(f"preserve {NODE}")
    assert isinstance(preserve, Preserve)
    assert preserve.reason == cause
    run.tell(Answered(preserve.key, {"checkpoint": "e", "valid": True}))
    assert (run.state.ended, run.statuses) == (Outcome.INTERRUPTED, {NODE: "RESUMABLE"})
    assert run.changes(NODE) == ["RUNNING", "INTERRUPTING", "INTERRUPTED", "RESUMABLE"]
    assert run.state.failure is not None
    assert run.state.failure.kind is FailureKind.STAGE_INTERRUPTED


@pytest.mark.parametrize("answer", [{}, {"valid": False}, {"valid": "yes"}, None, 5, {"error": "x"}])
def test_without_a_valid_checkpoint_a_stage_is_blocked(answer: Json) -> None:
    run = play()
    run.answer(f"execute {NODE}", {"exit": 1})
    run.answer(f"preserve {NODE}", answer)
    assert (run.state.ended, run.statuses) == (Outcome.FAILED, {NODE: "BLOCKED"})


def test_a_failure_is_tried_again_while_attempts_are_left() -> None:
    run = play()
    run.fail(NODE, valid=True, exit=1)
    assert (run.open, run.statuses) == ([f"wait {NODE}"], {NODE: "RESUMABLE"})
    run.answer(f"wait {NODE}", {})
    assert run.find(f"execute {NODE} 2").key == f"r/{NODE}#1/2.0"
    run.answer(f"execute {NODE} 2", {"exit": 1})
    run.answer(f"preserve {NODE} 2", {"valid": True})
    run.answer(f"wait {NODE} 2", {})
    run.complete(NODE, " 3")
    assert run.state.ended is Outcome.DONE
    assert run.changes(NODE) == [*["RUNNING", "FAILED", "RESUMABLE"] * 2, "RUNNING", "COMPLETED"]
    assert run.state.executions == 1


def test_the_last_attempt_ends_the_stage() -> None:
    run = play()
    for attempt in ("", " 2", " 3"):
        run.answer(f"execute {NODE}{attempt}", {"exit": 1})
        run.answer(f"preserve {NODE}{attempt}", {"valid": True})
        if attempt != " 3":
            run.answer(f"wait {NODE}{attempt}", {})
    assert (run.state.ended, run.statuses) == (Outcome.FAILED, {NODE: "RESUMABLE"})
    assert run.state.failure is not None
    assert run.state.failure.attempt == 3


@pytest.mark.parametrize("answer", [{"error": "disk full"}, None, "x"])
def test_outputs_that_cannot_be_published_are_a_failure_of_the_attempt(answer: Json) -> None:
    run = play()
    effect = execute(run)
    run.tell(Answered(effect.key, succeed(effect)))
    run.answer(f"publish {NODE}", answer)
    assert (run.open, run.statuses) == ([f"preserve {NODE}"], {NODE: "FAILED"})
    run.answer(f"preserve {NODE}", {"valid": True})
    run.answer(f"wait {NODE}", {})
    run.complete(NODE, " 2")
    assert run.state.ended is Outcome.DONE
