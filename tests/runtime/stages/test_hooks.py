"""Hooks at the slots of the message loop: guards, transforms and observers, before and after each stage."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from runtime.stages.talks import SYSTEM, Run, alone, calls, hooked, keys, said, submit, told, tool

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.document import LoopHook, Session
from stagec.ir.plan.gate import Backoff, Retry
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import Started, State, advance
from stagec.runtime.machine.acts.hooks import SLOTS
from stagec.runtime.machine.advance import find_trouble
from stagec.runtime.machine.exchange import Call, Hook, Message, Turn
from stagec.runtime.machine.failures import FailureKind, RunFailure
from stagec.runtime.machine.program import program_of

READ = calls(("1", "Read", {"path": "x"}), say="Reading.")


def of(*hooks: str, **members: Any) -> Run:
    """Return a run of one stage that may call `Read`, with hooks."""
    return Run(alone("Read", session=hooked(*hooks), **members))


def ask(index: int, slot: str, kind: str, call: str, /, **given: Json) -> Hook:
    stage, _, when = slot.partition("/")
    about = {"stage": stage, "when": when, "kind": kind, "execution": "r/a#1", **given}
    return Hook(f"r/a#1/1.{index}", f"hooks:{call}", slot, about)


def reach(run: Run, slot: str) -> None:
    """Answer a run until a hook at some slot is asked."""
    responses = [READ, submit(n=1)] if "TOOL" in slot else [submit(n=1)]
    while not isinstance(run.next, Hook):
        run.answer(responses.pop(0) if isinstance(run.next, Turn) else {"value": "text"})


SUBJECTS: dict[str, dict[str, Json]] = {
    "RECEIVE_INPUT/pre": {"input": "Work."},
    "RECEIVE_INPUT/post": {"input": "Work."},
    "COMPOSE_REQUEST/pre": {"request": {"transcript": [{"role": "system", "text": "Work."}], "tools": ["Read"]}},
    "COMPOSE_REQUEST/post": {"request": {"transcript": [{"role": "system", "text": "Work."}], "tools": ["Read"]}},
    "SEND_REQUEST/pre": {"request": {"transcript": [{"role": "system", "text": "Work."}], "tools": ["Read"]}},
    "SEND_REQUEST/post": {
        "response": {"text": "", "calls": [{"id": "s", "tool": "submit", "arguments": {"n": 1}}]},
    },
    "STREAM_RESPONSE/pre": {"calls": [{"id": "s", "tool": "submit", "arguments": {"n": 1}}], "text": ""},
    "STREAM_RESPONSE/post": {"calls": [{"id": "s", "tool": "submit", "arguments": {"n": 1}}], "text": ""},
    "TOOL_CALL/pre": {"call": "1", "tool": "Read", "source": "sm-envelope", "arguments": {"path": "x"}},
    "TOOL_CALL/post": {"call": "1", "tool": "Read", "result": {"value": "text"}},
    "RENDER/pre": {"payload": {"text": "", "parsed": {"n": 1}}},
    "RENDER/post": {"payload": {"text": "", "parsed": {"n": 1}}},
}
"""What a hook at each slot is given, besides where it is."""


@pytest.mark.parametrize("slot", SLOTS)
@pytest.mark.parametrize("kind", ["guard", "transform", "observer"])
def test_a_slot_takes_the_kinds_it_takes_and_shows_them_what_passes(slot: str, kind: str) -> None:
    plan = alone("Read", session=hooked(f"{slot} {kind} seen"))
    if kind not in SLOTS[slot]:
        why = f"hooks:seen cannot be attached to {slot} as {kind}: Validation/HookInvalidAttachment"
        run = Run(plan)
        assert (run.end, run.failure.detail) == ((Outcome.FAILED, "run: unfit-start"), why)
        return
    run = Run(plan)
    reach(run, slot)
    assert run.hook == ask(int(run.hook.key.rpartition(".")[2]), slot, kind, "seen", **SUBJECTS[slot])


def test_a_slot_that_does_not_exist_takes_no_hook() -> None:
    plan = replace(alone(), session=Session(hooks=(LoopHook("THINK", "pre", "guard", "m:f"),)))
    why = "m:f cannot be attached to THINK/pre as guard: Validation/HookSlotUnknown"
    assert find_trouble(program_of(plan), Started("r")) == why
    assert advance(program_of(plan), State(), Started("r")).state.failure == RunFailure(FailureKind.UNFIT_START, why)


@pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
def test_the_slots_are_those_of_the_document() -> None:
    file = Path(os.environ["STAGEC_CORPUS"], "stage-definitions", "upstream", "hook-slot-matrix.json")
    matrix = json.loads(file.read_bytes())
    rows = matrix if isinstance(matrix, list) else next(each for each in matrix.values() if isinstance(each, list))
    assert {each["slot"]: frozenset(each["allowed"]) for each in rows} == SLOTS


class TestGuards:
    def test_are_asked_one_after_the_other_in_the_order_of_the_plan(self) -> None:
        run = of("TOOL_CALL/pre guard one", "TOOL_CALL/pre guard two")
        asked = [[each.call for each in run.answer(answer).effects] for answer in (READ, {"value": True})]
        assert asked == [["hooks:one"], ["hooks:two"]]
        assert keys(run.answer({"value": True})) == ["r/a#1/1.3"]

    def test_the_first_denial_stops_and_nobody_else_is_called(self) -> None:
        run = of("TOOL_CALL/pre transform change", "TOOL_CALL/pre guard one", "TOOL_CALL/pre guard two")
        run.answers(READ, {"value": "PathPolicy"})
        denial = {"class": "ToolTerminal", "code": "PathPolicy", "message": "Read may not be called so: PathPolicy"}
        assert (run.turn.key, told(run.turn.transcript[-1])) == ("r/a#1/1.2", denial)
        assert run.facts("ToolCallDenied", "source", "code") == [["guard", "PathPolicy"]]

    @pytest.mark.parametrize(
        ("answer", "code"),
        [
            ({"value": False}, "GuardDenied"),
            ({"value": None}, "GuardDenied"),
            ({"value": ""}, "GuardDenied"),
            ({"value": 1}, "GuardDenied"),
            ({"value": "Mine"}, "Mine"),
            ({}, "HookGuardFailed"),
            ({"error": "raised"}, "HookGuardFailed"),
            (None, "HookGuardFailed"),
        ],
    )
    def test_only_true_allows(self, answer: Json, code: str) -> None:
        run = of("TOOL_CALL/pre guard one")
        run.answers(READ, answer)
        assert run.facts("ToolCallDenied", "code") == [code]

    def test_are_asked_about_a_call_that_people_have_granted(self) -> None:
        run = of("TOOL_CALL/pre guard one")
        run.answers(calls(("1", "Bash", {})), {"granted": True})
        assert run.hook == ask(
            2, "TOOL_CALL/pre", "guard", "one", call="1", tool="Bash", source="sm-grant-token", arguments={}
        )

    def test_are_not_asked_about_a_call_that_nobody_has_granted(self) -> None:
        run = of("TOOL_CALL/pre guard one")
        run.answers(calls(("1", "Bash", {})), {"granted": False})
        assert isinstance(run.next, Turn)

    def test_are_not_asked_about_the_completion_tool(self) -> None:
        run = of("TOOL_CALL/pre guard one", "TOOL_CALL/post observer two")
        run.answer(submit(n=1))
        assert run.end == (Outcome.DONE, "completed")

    def test_are_asked_about_no_call_of_a_rejected_response(self) -> None:
        run = of("TOOL_CALL/pre guard one")
        run.answer(calls(("1", "Read", {}), ("2", "submit", {})))
        assert isinstance(run.next, Turn)

    @pytest.mark.parametrize("slot", ["RECEIVE_INPUT/pre", "COMPOSE_REQUEST/pre", "SEND_REQUEST/pre"])
    def test_that_deny_before_the_model_is_asked_end_the_stage_as_failed(self, slot: str) -> None:
        run = of(f"{slot} guard one", retry=Retry(3, Backoff()))
        run.answer({"value": "Closed"})
        assert run.end == (Outcome.FAILED, "a: refused")
        assert (run.facts("ProviderRequestStarted", "turn"), run.facts("StageAssertOutcome", "verdict")) == ([], [])
        assert run.facts("StagePostFired", "stage", "outcome")[-1] == [slot.partition("/")[0], "denied"]

    def test_that_cut_off_a_response_end_the_stage_as_failed(self) -> None:
        run = of("STREAM_RESPONSE/pre guard one", hooks={"exit": "m:f"})
        run.answers(READ, {"value": "Leak"})
        result = {"verdict": "fail", "reason": "Leak", "capHit": False, "attemptCount": 1}
        assert run.given["result"] == result


class TestTransforms:
    def test_are_chained_after_the_guards(self) -> None:
        run = of("TOOL_CALL/pre transform one", "TOOL_CALL/pre transform two", "TOOL_CALL/pre guard zero")
        run.answers(READ, {"value": True})
        about = {"call": "1", "tool": "Read", "source": "sm-envelope"}
        assert run.hook == ask(2, "TOOL_CALL/pre", "transform", "one", **about, arguments={"path": "x"})
        run.answer({"value": {"path": "y"}})
        assert run.hook == ask(3, "TOOL_CALL/pre", "transform", "two", **about, arguments={"path": "y"})
        step = run.answer({"value": {"path": "z"}})
        assert step.effects == (Call("r/a#1/1.4", "Read", {"path": "z"}, "1"),)

    def test_of_arguments_leave_what_the_model_has_said(self) -> None:
        run = of("TOOL_CALL/pre transform one")
        run.answers(READ, {"value": {"path": "y"}}, {"value": "text"})
        assert run.turn.transcript == (SYSTEM, said(("1", "Read", {"path": "x"}), say="Reading."), tool("1", "text"))

    def test_of_a_result_change_what_the_model_is_told(self) -> None:
        run = of("TOOL_CALL/post transform one")
        run.answers(READ, {"value": "secret"}, {"value": {"value": "***"}})
        assert run.turn.transcript[-1] == tool("1", "***")

    def test_of_results_are_called_in_the_order_of_the_calls_once_all_are_there(self) -> None:
        run = of("TOOL_CALL/post transform one")
        run.answer(calls(("1", "Read", {}), ("2", "Read", {})))
        assert run.answer({"value": "two"}, "a#1/1.2").effects == ()
        run.answer({"value": "one"}, "a#1/1.1")
        seen = []
        while isinstance(run.next, Hook):
            seen.append((run.given["call"], run.given["result"]))
            run.answer({"value": run.given["result"]})
        assert seen == [("1", {"value": "one"}), ("2", {"value": "two"})]

    def test_of_the_input_change_the_system_prompt(self) -> None:
        run = of("RECEIVE_INPUT/pre transform one", "RECEIVE_INPUT/post transform two")
        run.answers({"value": "Work hard."}, {"value": "Work hard!"})
        assert run.turn.transcript == (Message("system", "Work hard!"),)

    @pytest.mark.parametrize("slot", ["COMPOSE_REQUEST/pre", "COMPOSE_REQUEST/post", "SEND_REQUEST/pre"])
    def test_of_a_request_change_what_is_sent_and_not_what_is_remembered(self, slot: str) -> None:
        run = of(f"{slot} transform one")
        request = {"transcript": [{"role": "user", "text": "Psst."}], "tools": ["Other", "Other"]}
        run.answer({"value": request})
        assert (run.turn.transcript, run.turn.tools) == ((Message("user", "Psst."),), ("Other",))
        run.answer({"text": "hm"})
        assert [each["text"] for each in run.given["request"]["transcript"]][:2] == ["Work.", "hm"]

    def test_of_a_request_do_not_widen_what_is_authorised(self) -> None:
        run = of("SEND_REQUEST/pre transform one")
        run.answer({"value": {"transcript": [{"role": "system", "text": "Work."}], "tools": ["Bash"]}})
        step = run.answer(calls(("1", "Bash", {})))
        assert [type(each).__name__ for each in step.effects] == ["Grant"]

    def test_of_a_response_change_its_text_alone(self) -> None:
        run = of("STREAM_RESPONSE/pre transform one")
        run.answers(READ, {"value": "***"}, {"value": "text"})
        assert run.turn.transcript[1] == said(("1", "Read", {"path": "x"}), say="***")

    def test_of_what_is_shown_leave_the_result(self) -> None:
        run = of("RENDER/pre transform one", "RENDER/post observer two", hooks={"exit": "m:f"})
        run.answers(submit(n=1), {"value": "shown"})
        assert run.given["payload"] == "shown"
        run.answer({"value": None})
        assert run.given["result"]["parsed"] == {"n": 1}
        assert run.facts("StagePostFired", "stage", "payload")[-1] == ["RENDER", "shown"]

    @pytest.mark.parametrize("answer", [{}, None, {"error": "raised"}, {"value": "no object"}])
    def test_that_fail_before_a_call_leave_it_unmade(self, answer: Json) -> None:
        run = of("TOOL_CALL/pre transform one")
        step = run.answers(READ, answer)
        assert keys(step) == []
        assert run.facts("ToolCallDenied", "source", "code") == [["guard", "HookTransformFailed"]]

    @pytest.mark.parametrize("answer", [{}, None, {"error": "raised"}, {"value": "no object"}, {"value": {}}])
    def test_that_fail_after_a_call_let_nothing_of_its_result_through(self, answer: Json) -> None:
        run = of("TOOL_CALL/post transform one")
        run.answers(READ, {"value": "secret"}, answer)
        assert told(run.turn.transcript[-1])["code"] == "HookTransformFailed"

    @pytest.mark.parametrize(
        "slot",
        ["RECEIVE_INPUT/pre", "RECEIVE_INPUT/post", "COMPOSE_REQUEST/pre", "SEND_REQUEST/pre", "STREAM_RESPONSE/pre"],
    )
    @pytest.mark.parametrize("answer", [{}, {"value": 7}, {"value": {"transcript": [], "tools": []}}])
    def test_that_fail_elsewhere_end_the_stage_as_failed(self, slot: str, answer: Json) -> None:
        run = of(f"{slot} transform one")
        reach(run, slot)
        run.answer(answer)
        assert run.end == (Outcome.FAILED, "a: hook-failed")
        assert run.facts("StagePostFired", "outcome")[-1] == "failed"


class TestObservers:
    def test_are_called_together_after_everything_else(self) -> None:
        run = of("TOOL_CALL/pre observer one", "TOOL_CALL/pre transform change", "TOOL_CALL/pre observer two")
        run.answer(READ)
        step = run.answer({"value": {"path": "y"}})
        about = {"call": "1", "tool": "Read", "source": "sm-envelope", "arguments": {"path": "y"}}
        assert step.effects == (
            ask(2, "TOOL_CALL/pre", "observer", "one", **about),
            ask(3, "TOOL_CALL/pre", "observer", "two", **about),
        )

    def test_are_waited_for_in_any_order(self) -> None:
        run = of("TOOL_CALL/pre observer one", "TOOL_CALL/pre observer two")
        run.answer(READ)
        assert keys(run.answer({"value": None}, "a#1/1.2")) == []
        assert keys(run.answer({"value": None}, "a#1/1.1")) == ["r/a#1/1.3"]

    @pytest.mark.parametrize("answer", [{}, None, {"error": "raised"}])
    def test_that_fail_stop_nothing_and_are_told_of(self, answer: Json) -> None:
        run = of("SEND_REQUEST/post observer one")
        run.answers(submit(n=1), answer)
        assert run.end == (Outcome.DONE, "completed")
        assert run.facts("HookObserverFailed", "slot", "call") == [["SEND_REQUEST/post", "hooks:one"]]

    def test_change_nothing(self) -> None:
        run = of("RECEIVE_INPUT/post observer one")
        run.answer({"value": "something else"})
        assert run.turn.transcript == (SYSTEM,)


def test_hooks_of_the_loop_are_given_no_context() -> None:
    for slot in SLOTS:
        run = of(f"{slot} observer one")
        reach(run, slot)
        assert "ctx" not in run.given


def test_the_input_is_received_once_in_an_execution() -> None:
    run = of("RECEIVE_INPUT/pre observer one", turns=1, retry=Retry(2, Backoff()))
    run.answers({"value": None}, {"text": "hm"}, {})
    assert isinstance(run.next, Turn)


def test_a_result_is_not_shown_on_a_cap() -> None:
    run = of("RENDER/pre observer one", turns=1)
    run.answer({"text": "hm"})
    assert run.facts("StagePreFired", "stage").count("RENDER") == 0


def test_every_stage_of_the_loop_is_told_of_before_and_after() -> None:
    run = of()
    run.answers(READ, {"value": "text"}, submit(n=1))
    stages = ["COMPOSE_REQUEST", "SEND_REQUEST", "STREAM_RESPONSE"]
    passed = ["RECEIVE_INPUT", *stages, "TOOL_CALL", *stages, "RENDER"]
    assert run.facts("StagePreFired", "stage") == passed
    assert run.facts("StagePostFired", "stage", "outcome") == [[each, "ok"] for each in passed]
