"""Calls of tools in a stage: who authorises them, in which order, and what the model is told."""

from __future__ import annotations

from hashlib import sha256

import pytest
from runtime.stages.talks import SYSTEM, Run, alone, calls, hooked, keys, pipeline, said, stage, submit, to, told, tool

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.gate import Backoff, Check, Retry
from stagec.runtime.machine.exchange import Call, Grant

ARGUMENTS = {"b": 1.0, "a": "é"}
DIGEST = sha256('{"a":"é","b":1}'.encode()).hexdigest()
BASH = calls(("1", "Bash", ARGUMENTS))


def denial(code: str) -> Json:
    return {"class": "ToolTerminal", "code": code, "message": f"Bash may not be called so: {code}"}


def failure(message: str) -> Json:
    return {"class": "ToolTerminal", "code": "ToolExecutionFailed", "message": message}


def test_a_tool_of_the_stage_is_called_without_asking() -> None:
    run = Run(alone("Read"))
    step = run.answer(calls(("1", "Read", {"path": "x"})))
    assert step.effects == (Call("r/a#1/1.1", "Read", {"path": "x"}, "1"),)
    assert run.facts("ToolCallApproved", "tool", "proposalId", "source") == [["Read", "1", "sm-envelope"]]


def test_what_a_tool_returns_is_told_as_a_hole_writes_it() -> None:
    run = Run(alone("Read"))
    run.answers(calls(("1", "Read", {})), {"value": {"lines": [1.0, None]}})
    assert run.turn.transcript == (SYSTEM, said(("1", "Read", {})), tool("1", '{"lines":[1,null]}'))


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (
            {"error": "no such file"},
            {"class": "ToolTerminal", "code": "ToolExecutionFailed", "message": "no such file"},
        ),
        (
            {"error": {"class": "ToolTransient", "code": "Busy", "message": "later"}},
            {"class": "ToolTransient", "code": "Busy", "message": "later"},
        ),
        (None, failure("the answer is no object")),
        ({}, failure("the call failed")),
    ],
)
def test_a_tool_that_fails_is_an_answer_with_class_code_and_message(answer: Json, wanted: Json) -> None:
    run = Run(alone("Read"))
    run.answers(calls(("1", "Read", {})), answer)
    assert told(run.turn.transcript[-1]) == wanted
    assert run.facts("ToolInvocationFailed", "error") == [wanted]


def test_calls_that_may_be_made_are_made_together_and_answered_in_their_order() -> None:
    run = Run(alone("Read"))
    step = run.answer(calls(("1", "Read", {}), ("2", "Read", {})))
    assert keys(step) == ["r/a#1/1.1", "r/a#1/1.2"]
    run.answer({"value": "two"}, "a#1/1.2")
    run.answer({"value": "one"}, "a#1/1.1")
    assert run.turn.transcript[2:] == (tool("1", "one"), tool("2", "two"))


def test_people_are_asked_for_other_tools_with_the_digest_of_the_argument() -> None:
    step = Run(alone("Read")).answer(BASH)
    summary = '{"b":1,"a":"é"}'
    assert step.effects == (Grant("r/a#1/1.1", "r/a#1", 1, "1", "Bash", DIGEST, summary, {"b": 1, "a": "é"}),)


def test_people_are_asked_one_question_after_the_other_before_anything_is_carried_out() -> None:
    run = Run(alone("Read"))
    step = run.answer(calls(("1", "Read", {}), ("2", "Bash", {}), ("3", "Edit", {})))
    assert keys(step, Grant) == ["r/a#1/1.1"]
    step = run.answer({"granted": True})
    assert (keys(step, Grant), keys(step)) == (["r/a#1/1.2"], [])
    step = run.answer({"granted": True})
    assert [each.tool for each in step.effects if isinstance(each, Call)] == ["Read", "Bash", "Edit"]


def test_a_grant_lets_one_call_be_made() -> None:
    run = Run(alone())
    run.answer(BASH)
    step = run.answer({"granted": True})
    assert step.effects == (Call("r/a#1/1.2", "Bash", ARGUMENTS, "1"),)
    granted = ["Bash", "1", DIGEST, "approve"]
    assert run.facts("StageGranted", "tool", "proposalId", "argsDigest", "decision") == [granted]


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        ({"granted": False}, "deny"),
        ({}, "defer"),
        (None, "defer"),
        ({"granted": "yes"}, "defer"),
        ({"granted": 1}, "defer"),
    ],
)
def test_a_call_that_nobody_grants_is_answered_and_the_stage_goes_on(answer: Json, decision: str) -> None:
    run = Run(alone())
    run.answers(BASH, answer)
    assert told(run.turn.transcript[-1]) == denial("GrantDenied")
    assert run.facts("StageGranted", "decision") == [decision]
    assert run.facts("ToolCallDenied", "source", "code") == [["sm-grant-token", "GrantDenied"]]


@pytest.mark.parametrize("mode", ["ask", "allowlist", "yolo"])
def test_no_mode_authorises_a_call_in_a_stage(mode: str) -> None:
    step = Run(alone(session=hooked(mode=mode))).answer(BASH)
    assert keys(step, Grant) == ["r/a#1/1.1"]


def test_a_grant_does_not_cover_another_call_of_the_same_tool() -> None:
    run = Run(alone())
    run.answers(BASH, {"granted": True}, {"value": ""})
    step = run.answer(calls(("2", "Bash", ARGUMENTS)))
    assert keys(step, Grant) == ["r/a#1/1.4"]


def test_the_same_call_under_the_same_id_is_not_granted_twice() -> None:
    run = Run(alone())
    run.answers(BASH, {"granted": True}, {"value": ""})
    step = run.answer(BASH)
    assert keys(step, Grant) == []
    assert told(run.turn.transcript[-1]) == denial("GrantAlreadyConsumed")


def test_a_grant_does_not_outlive_its_attempt() -> None:
    again = Check("retry", (), "again")
    run = Run(alone(checks=(again,), retry=Retry(2, Backoff())))
    run.answers(BASH, {"granted": True}, {"value": ""}, submit(), {})
    step = run.answer(BASH)
    assert [(each.attempt, each.proposal) for each in step.effects if isinstance(each, Grant)] == [(2, "1")]


def test_a_grant_does_not_outlive_its_execution() -> None:
    run = Run(pipeline(a=stage(edges=to("a"))))
    run.answers(BASH, {"granted": True}, {"value": ""}, submit())
    step = run.answer(BASH)
    assert [each.execution for each in step.effects if isinstance(each, Grant)] == ["r/a#2"]


def test_a_number_that_is_no_double_counts_as_the_nearest() -> None:
    run = Run(alone())
    run.answer(calls(("1", "Bash", {"n": 2**70 + 1})))
    assert run.facts("ToolInvocationProposed", "argsDigest") == [sha256(b'{"n":1.1805916207174113e+21}').hexdigest()]


def test_an_unreadable_call_is_neither_asked_about_nor_made() -> None:
    run = Run(alone("Read"))
    step = run.answer(calls(("1", "Bash", "{"), ("2", "Read", {})))
    assert (keys(step, Grant), keys(step)) == ([], ["r/a#1/1.1"])
    run.answer({"value": "x"})
    assert [each.call for each in run.turn.transcript[2:]] == ["1", "2"]


def test_every_call_is_told_of_from_its_proposal_to_its_end() -> None:
    run = Run(alone("Read"))
    run.answers(calls(("1", "Read", {}), ("2", "Bash", {})), {"granted": False}, {"value": ""})
    names = [name for name in run.names() if name.startswith(("Tool", "StageGranted"))]
    assert names == [
        "ToolInvocationProposed",
        "ToolInvocationProposed",
        "ToolCallApproved",
        "StageGranted",
        "ToolCallDenied",
        "ToolInvocationStarted",
        "ToolInvocationSucceeded",
    ]


def test_an_answer_that_comes_after_its_execution_is_over_changes_nothing() -> None:
    run = Run(alone())
    run.answer(BASH)
    run.cancel()
    ended = run.step.state
    assert run.answer({"granted": True}, "a#1/1.1") == replace(run.step, state=ended, effects=(), void=(), trace=())
