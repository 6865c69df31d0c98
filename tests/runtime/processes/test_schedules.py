"""Schedules: what begins when, what never does, and how the run ends; the same whichever node is the last."""

from __future__ import annotations

from itertools import permutations

import pytest
from handmade import process, processes, scheduled
from runtime.processes.play import Play

from stagec.ir.plan import Plan
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import Answered, Cancelled, Resumed
from stagec.runtime.machine.exchange import Interrupt, Wait
from stagec.runtime.machine.failures import FailureKind

LOAD, TRAIN, EXPLORE, JUDGE, SEND = processes().nodes


def diamond(parallel: int = 4) -> Plan:
    nodes = {name: process() for name in "abcd"}
    return scheduled(nodes, {"a": (), "b": ("a",), "c": ("a",), "d": ("b", "c")}, parallel)


def test_a_node_begins_when_all_that_it_needs_have_completed() -> None:
    run = Play(processes())
    assert run.open == [f"execute {LOAD}"]
    assert run.statuses == dict.fromkeys(processes().nodes, "PENDING") | {LOAD: "RUNNING"}
    run.complete(LOAD)
    assert run.open == [f"execute {TRAIN}", f"execute {EXPLORE}"]
    run.complete(EXPLORE)
    assert run.open == [f"execute {TRAIN}", f"execute {SEND}"]
    run.complete(TRAIN)
    assert run.open == [f"execute {SEND}", f"execute {JUDGE}"]
    run.complete(JUDGE)
    run.complete(SEND)
    assert (run.state.ended, set(run.statuses.values())) == (Outcome.DONE, {"COMPLETED"})


@pytest.mark.parametrize("order", list(permutations("bc")))
def test_it_does_not_matter_which_need_is_the_last(order: tuple[str, ...]) -> None:
    run = Play(diamond())
    run.complete("a")
    for each in order:
        run.complete(each)
    assert run.open == ["execute d"]
    run.complete("d")
    assert run.state.ended is Outcome.DONE


@pytest.mark.parametrize("parallel", [1, 2, 3])
def test_no_more_nodes_act_than_may_and_they_begin_in_their_order(parallel: int) -> None:
    names = "abcde"
    run = Play(scheduled({name: process() for name in names}, dict.fromkeys(names, ()), parallel))
    begun = []
    while run.open:
        assert len(run.open) == min(parallel, len(names) - len(begun))
        begun.append(run.open[0].removeprefix("execute "))
        run.complete(begun[-1])
    assert "".join(begun) == names


def test_what_needs_a_node_that_has_failed_is_blocked_and_all_else_goes_on() -> None:
    run = Play(processes())
    run.complete(LOAD)
    run.fail(TRAIN)
    assert run.statuses[JUDGE] == "BLOCKED"
    assert run.open == [f"execute {EXPLORE}"]
    run.complete(EXPLORE)
    run.complete(SEND)
    assert run.state.ended is Outcome.FAILED
    assert run.statuses == {
        LOAD: "COMPLETED",
        TRAIN: "BLOCKED",
        EXPLORE: "COMPLETED",
        JUDGE: "BLOCKED",
        SEND: "COMPLETED",
    }
    assert run.state.failure is not None
    assert (run.state.failure.node, run.state.failure.kind) == (TRAIN, FailureKind.STAGE_FAILED)


def test_a_run_is_interrupted_when_nothing_has_failed() -> None:
    run = Play(diamond())
    run.complete("a")
    run.fail("b", interrupted="timeout", valid=True)
    run.complete("c")
    assert (run.state.ended, run.statuses["d"]) == (Outcome.INTERRUPTED, "BLOCKED")


def test_a_failure_weighs_more_than_an_interruption() -> None:
    run = Play(diamond())
    run.complete("a")
    run.fail("b", interrupted="timeout")
    run.fail("c")
    assert run.state.ended is Outcome.FAILED
    assert run.state.failure is not None
    assert run.state.failure.node == "c"


def test_answers_that_nobody_waits_for_change_nothing() -> None:
    run = Play(diamond())
    before = run.state
    for event in (Answered("r/b#1/1.0", {}), Answered("r/a#1/1.1", {}), Answered("r/z#1/1.0", {}), Answered("", {})):
        assert run.tell(event).state == before


def test_a_cancelled_run_waits_until_its_processes_are_gone() -> None:
    run = Play(processes())
    run.complete(LOAD)
    step = run.tell(Cancelled("enough"))
    assert [(type(each), getattr(each, "request", None)) for each in step.effects] == [
        (Interrupt, f"r/{TRAIN}#1/1.0"),
        (Interrupt, f"r/{EXPLORE}#1/1.0"),
    ]
    assert run.state.ended is None
    assert run.statuses[TRAIN] == run.statuses[EXPLORE] == "INTERRUPTING"
    assert run.tell(Cancelled("again")).effects == ()
    run.answer(f"interrupt {TRAIN}", {})
    run.answer(f"execute {TRAIN}", {"exit": 0})
    assert run.statuses[TRAIN] == "INTERRUPTED"
    run.answer(f"preserve {TRAIN}", {"valid": True})
    assert (run.state.ended, run.statuses[TRAIN], run.statuses[JUDGE]) == (None, "RESUMABLE", "BLOCKED")
    run.answer(f"execute {EXPLORE}", {"exit": -2, "interrupted": "abort"})
    run.answer(f"preserve {EXPLORE}", {"valid": True})
    assert run.state.ended is Outcome.FAILED
    assert run.state.failure is not None
    assert run.state.failure.kind is FailureKind.CANCELLED
    assert run.open == []
    assert run.state.reason == "cancelled: enough"


def test_what_is_being_published_when_a_run_is_cancelled_completes_and_nothing_begins() -> None:
    run = Play(processes())
    run.answer(f"execute {LOAD}", {"exit": 0, "outputs": {"table": {"path": "", "sha256": "", "sizeBytes": 0}}})
    run.tell(Cancelled())
    assert run.open == [f"publish {LOAD}"]
    run.answer(f"publish {LOAD}", {})
    assert run.state.ended is Outcome.FAILED
    assert run.statuses == dict.fromkeys(processes().nodes, "PENDING") | {LOAD: "COMPLETED"}


def test_a_stage_that_waits_for_another_attempt_ends_at_once_when_the_run_is_cancelled() -> None:
    run = Play(processes())
    run.fail(LOAD, valid=True)
    assert [type(each) for each in run.state.pending.values()] == [Wait]
    step = run.tell(Cancelled())
    assert (run.state.ended, run.statuses[LOAD], len(step.void)) == (Outcome.FAILED, "RESUMABLE", 1)


def test_a_stage_that_fails_while_the_run_is_cancelled_is_not_tried_again() -> None:
    run = Play(processes())
    run.answer(f"execute {LOAD}", {"exit": 1})
    run.tell(Cancelled())
    assert run.open == [f"preserve {LOAD}"]
    run.answer(f"preserve {LOAD}", {"valid": True})
    assert (run.state.ended, run.statuses[LOAD]) == (Outcome.FAILED, "RESUMABLE")


def test_a_resumed_run_keeps_what_was_verified_and_forgets_its_requests() -> None:
    run = Play(processes())
    run.complete(LOAD)
    run.complete(EXPLORE)
    old = set(run.state.pending)
    step = run.tell(Resumed((LOAD, EXPLORE), (SEND,), "ckpt-1"))
    assert old <= set(step.void)
    assert run.open == [f"execute {TRAIN}", f"execute {SEND}"]
    assert run.find(f"execute {TRAIN}").key == f"r/{TRAIN}#2/1.0"
    assert run.statuses == {
        LOAD: "COMPLETED",
        TRAIN: "RUNNING",
        EXPLORE: "COMPLETED",
        JUDGE: "PENDING",
        SEND: "RUNNING",
    }
    for node in (TRAIN, SEND, JUDGE):
        run.complete(node)
    assert run.state.ended is Outcome.DONE
    assert run.state.executions == 3


@pytest.mark.parametrize(
    ("kept", "begins"),
    [
        ((), [LOAD]),
        ((EXPLORE, TRAIN, JUDGE), [LOAD]),
        ((LOAD, JUDGE), [TRAIN, EXPLORE]),
        ((LOAD, TRAIN, EXPLORE, "unknown"), [JUDGE]),
    ],
)
def test_only_what_is_kept_with_all_that_it_needs_counts(kept: tuple[str, ...], begins: list[str]) -> None:
    run = Play(processes())
    run.fail(LOAD)
    assert run.state.ended is Outcome.FAILED
    run.tell(Resumed(kept, (SEND,)))
    assert run.open == [f"execute {each}" for each in begins] or run.open[-1] == f"execute {SEND}"
    assert run.open[: len(begins)] == [f"execute {each}" for each in begins]


def test_a_run_of_which_everything_is_kept_is_done() -> None:
    run = Play(processes())
    run.fail(LOAD)
    run.tell(Resumed(tuple(processes().nodes)))
    assert (run.state.ended, run.open) == (Outcome.DONE, [])


def test_a_stage_that_is_not_retryable_waits_for_consent() -> None:
    run = Play(processes())
    run.complete(LOAD)
    run.complete(EXPLORE)
    assert f"execute {SEND}" in run.open
    run.tell(Resumed((LOAD, EXPLORE)))
    assert run.open == [f"execute {TRAIN}"]
    assert run.statuses[SEND] == "BLOCKED"
    run.complete(TRAIN)
    run.complete(JUDGE)
    assert run.state.ended is Outcome.FAILED
    assert run.state.failure is not None
    assert (run.state.failure.kind, run.state.failure.node) == (FailureKind.STAGE_BLOCKED, SEND)
    run.tell(Resumed((LOAD, TRAIN, EXPLORE, JUDGE), (SEND,)))
    run.complete(SEND)
    assert run.state.ended is Outcome.DONE


def test_a_stage_that_may_not_run_again_is_blocked_also_when_what_it_needs_does() -> None:
    run = Play(processes())
    run.complete(LOAD)
    run.complete(EXPLORE)
    run.tell(Resumed())
    assert run.statuses[SEND] == "BLOCKED"
    for node in (LOAD, TRAIN, EXPLORE):
        run.complete(node)
    assert run.open == [f"execute {JUDGE}"]
    run.complete(JUDGE)
    assert run.state.ended is Outcome.FAILED


def test_a_stage_that_has_not_begun_needs_no_consent() -> None:
    run = Play(processes())
    run.tell(Resumed())
    assert run.statuses[SEND] == "PENDING"


def test_a_run_that_is_done_and_one_of_other_nodes_are_not_resumed() -> None:
    run = Play(scheduled({"a": process()}, {"a": ()}))
    run.complete("a")
    assert run.tell(Resumed()).state == run.steps[-2].state
    assert run.state.ended is Outcome.DONE


def test_a_cancelled_run_can_be_resumed_and_cancelled_again() -> None:
    run = Play(diamond())
    run.tell(Cancelled())
    run.answer("execute a", {})
    run.answer("preserve a", {"valid": True})
    assert run.state.ended is Outcome.FAILED
    run.tell(Resumed())
    assert (run.state.ended, run.state.cancelled, run.open) == (None, None, ["execute a"])
    run.tell(Cancelled())
    assert run.open == ["execute a", "interrupt a"]


def test_what_waits_for_room_when_a_run_is_cancelled_is_not_waited_for() -> None:
    run = Play(scheduled({name: process() for name in "abc"}, dict.fromkeys("abc", ()), 1))
    run.tell(Cancelled())
    run.answer("execute a", {})
    run.answer("preserve a", {})
    assert (run.state.ended, run.statuses) == (Outcome.FAILED, {"a": "BLOCKED", "b": "PENDING", "c": "PENDING"})
