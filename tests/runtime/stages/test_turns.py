"""The turns of a model in a stage: how many there are, what counts as one, and what each kind of response leads to."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest
from runtime.stages.talks import RESULT, SYSTEM, Run, alone, calls, pipeline, said, stage, submit, text, to, tool

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.gate import Backoff, Check, Retry
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import State, StepResult
from stagec.runtime.machine.exchange import MACHINE, Call, Message, Turn, Wait
from stagec.runtime.machine.execution import ROOT, Conversation, Execution
from stagec.runtime.machine.state import Move, NodeHistory, TraceEvent

STEER = Message("user", "Call submit when you are done.")
RETRIED = Retry(2, Backoff("exponential", 100))


def test_the_first_turn_is_asked_for_with_the_prompt_the_tools_and_the_completion_tool() -> None:
    run = Run(alone("Read", "Grep"), task="t")
    turn = Turn("r/a#1/1.0", (SYSTEM,), ("Read", "Grep"), "submit", RESULT)
    context = {"task": "t", "upstream": [], "workflowRunId": "r", "stageExecutionId": "r/a#1"}
    talk = Conversation(context, asked=1, transcript=(SYSTEM,), turns=1)
    where = {"workflowRunId": "r", "stageId": "a", "stageExecutionId": "r/a#1", "attempt": 1}
    loop = {"turnId": "r/a#1", "correlationId": "r/a#1/1"}
    assert run.step == StepResult(
        State(
            run="r",
            inputs={"task": "t"},
            executions=1,
            past={"a": NodeHistory(visits=1)},
            active={"r/a#1": Execution("r/a#1", "a", ROOT, asked=1, progress=talk)},
            pending={turn.key: turn},
            traced=9,
            machine=MACHINE,
        ),
        (turn,),
        (),
        (
            TraceEvent("SessionTurnStart", {"seq": 1, **where, "turnId": "r/a#1"}),
            TraceEvent("StageEntered", {"seq": 2, **where, "upstreamCount": 0}),
            TraceEvent("StageCheckGateResult", {"seq": 3, **where, "outcome": "proceed", "policy": None}),
            TraceEvent("StagePreFired", {"seq": 4, **where, "stage": "RECEIVE_INPUT", **loop}),
            TraceEvent("StagePostFired", {"seq": 5, **where, "stage": "RECEIVE_INPUT", **loop, "outcome": "ok"}),
            TraceEvent("StagePreFired", {"seq": 6, **where, "stage": "COMPOSE_REQUEST", **loop}),
            TraceEvent("StagePostFired", {"seq": 7, **where, "stage": "COMPOSE_REQUEST", **loop, "outcome": "ok"}),
            TraceEvent("StagePreFired", {"seq": 8, **where, "stage": "SEND_REQUEST", **loop}),
            TraceEvent("ProviderRequestStarted", {"seq": 9, **where, "turn": 1}),
        ),
    )


def test_the_end_of_the_only_stage_is_the_end_of_the_run() -> None:
    run = Run(alone())
    step = run.answer(submit(n=1))
    where = {"workflowRunId": "r", "stageId": "a", "stageExecutionId": "r/a#1", "attempt": 1}
    digest = sha256(b'{"n":1}').hexdigest()
    assert step == StepResult(
        State(
            "r", "", {}, 1, {"a": NodeHistory(1)}, ended=Outcome.DONE, reason="completed", traced=19, machine=MACHINE
        ),
        trace=(
            *step.trace[:6],
            TraceEvent(
                "StageAssertOutcome",
                {"seq": 16, **where, "verdict": "ok", "capHit": False, "parsedDigest": digest, "reason": ""},
            ),
            TraceEvent("StageExited", {"seq": 17, **where, "verdict": "ok", "attemptCount": 1, "capHit": False}),
            TraceEvent("SessionTurnEnd", {"seq": 18, **where, "turnId": "r/a#1"}),
            TraceEvent(
                "WorkflowExit",
                {"seq": 19, "workflowRunId": "r", "status": "done", "lastStage": "a", "reason": "completed"},
            ),
        ),
        moves=(Move("a", 1, "ok", end="done"),),
        last=step.last,
    )


def test_a_repeated_tool_is_shown_once() -> None:
    assert Run(alone("b", "a", "b")).turn.tools == ("b", "a")


@pytest.mark.parametrize("turns", [1, 2, 5])
def test_a_cap_allows_exactly_as_many_turns(turns: int) -> None:
    run, taken = Run(alone(turns=turns)), 0
    while run.step.state.ended is None:
        run.answer({"text": "hm"})
        taken += 1
    assert (taken, run.facts("StageExited", "capHit", "attemptCount")) == (turns, [[True, 1]])


@pytest.mark.parametrize(
    "response",
    [
        {"text": "Only prose."},
        {},
        calls(("1", "submit", {"n": "no number"})),
        calls(("1", "submit", {}), ("2", "Read", {})),
        calls(("1", "submit", {}), ("2", "submit", {})),
        calls(("1", "submit", "no object")),
    ],
    ids=["prose", "silence", "invalid", "batch", "twice", "unreadable"],
)
def test_every_response_counts_as_a_turn(response: Json) -> None:
    run = Run(alone("Read", turns=1))
    run.answer(response)
    assert run.facts("StageAssertOutcome", "verdict", "capHit") == [["retry", True]]


def test_several_calls_of_one_response_are_one_turn() -> None:
    run = Run(alone("Read", turns=2))
    run.answer(calls(("1", "Read", {}), ("2", "Read", {"p": 1})))
    run.answers({"value": "x"}, {"value": "y"})
    assert run.facts("ProviderRequestStarted", "turn") == [1, 2]


def test_a_result_in_the_last_turn_is_no_cap() -> None:
    run = Run(alone(turns=2))
    run.answers({"text": "hm"}, submit(n=1))
    assert (run.end, run.facts("StageExited", "capHit")) == ((Outcome.DONE, "completed"), [False])


def test_on_a_cap_calls_under_way_are_finished_and_are_in_the_transcript() -> None:
    run = Run(alone("Read", turns=1, hooks={"assert": "m:f"}))
    step = run.answer(calls(("1", "Read", {}), ("2", "Read", {"p": 1})))
    assert [type(each) for each in step.effects] == [Call, Call]
    step = run.answer({"value": "second"}, "a#1/1.2")
    assert step.effects == ()
    run.answer({"value": "first"}, "a#1/1.1")
    given = run.given
    assert given["capHit"] is True
    assert [each.get("text") for each in given["transcript"]] == ["Work.", "", "first", "second"]


def test_a_response_without_calls_is_followed_by_a_word_about_the_completion_tool() -> None:
    run = Run(alone())
    run.answer({"text": "Well."})
    assert run.turn.transcript == (SYSTEM, Message("assistant", "Well."), STEER)


@pytest.mark.parametrize("others", [("Read",), ("submit",), ("Bash", "Read")])
def test_a_completion_tool_that_is_not_called_alone_gets_every_call_of_the_response_refused(
    others: tuple[str, ...],
) -> None:
    run = Run(alone("Read"))
    batch = (("s", "submit", {"n": 1}), *((str(index), name, {}) for index, name in enumerate(others)))
    step = run.answer(calls(*batch))
    refusal = "Not carried out: submit must be the only call of a turn."
    assert run.turn.transcript == (SYSTEM, said(*batch), *(tool(name, refusal) for name, _, _ in batch))
    assert [each.name for each in step.trace if each.name.startswith(("Tool", "StageGranted"))] == []


def test_a_result_that_the_schema_refuses_is_answered_with_what_is_wrong_and_the_attempt_goes_on() -> None:
    run = Run(alone())
    run.answer(submit(n="one"))
    refusal = tool("s", 'Not accepted: /n: "one" is not an integer')
    assert run.turn.transcript == (SYSTEM, said(("s", "submit", {"n": "one"})), refusal)


def test_the_last_result_that_was_refused_is_remembered_with_the_attempt() -> None:
    run = Run(alone(hooks={"assert": "m:f"}))
    run.answers(submit(n="one"), submit(n=2.5), submit(n=2))
    record = {"turns": 3, "capHit": False, "parseError": "/n: 2.5 is not an integer"}
    assert run.given["attempts"] == [record]
    assert run.given["ctx"]["attempts"] == [record]


def test_the_completion_tool_is_recorded_as_no_call_of_a_tool() -> None:
    run = Run(alone())
    run.answer(submit())
    assert [name for name in run.names() if name.startswith("Tool")] == []


def test_a_call_without_an_id_is_given_one_that_no_other_has() -> None:
    run = Run(alone("Read"))
    for _ in range(2):
        run.answer({"calls": [{"tool": "Read"}, {"tool": "Read"}]})
        run.answers({"value": ""}, {"value": ""})
    assert run.facts("ToolInvocationStarted", "proposalId") == ["1.0", "1.1", "2.0", "2.1"]


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ({"id": "1", "tool": "Read", "arguments": "{broken"}, "the arguments are no object"),
        (
            {"id": "1", "tool": "Read", "arguments": "{broken", "unreadable": "it is cut"},
            "the arguments cannot be read: it is cut",
        ),
        ({"id": "1", "tool": "Read", "unreadable": "/a: no"}, "the arguments cannot be read: /a: no"),
        ({"id": "1", "arguments": {}}, "the call names no tool"),
        (7, "the call names no tool"),
        ({"unreadable": "no"}, "the call cannot be read: no"),
        ({"id": "1", "tool": 3}, "the call names no tool"),
    ],
)
def test_a_call_that_cannot_be_read_is_answered_and_not_dropped(call: Json, why: str) -> None:
    run = Run(alone("Read"))
    run.answer({"calls": [call]})
    answer = run.turn.transcript[-1]
    malformed = {"class": "ProviderCapability", "code": "OutputMalformed", "message": why}
    assert (answer.role, json.loads(answer.text)) == ("tool", malformed)


@pytest.mark.parametrize("answer", [None, [], "no", {"error": "overloaded"}, {"error": None, "text": "x"}])
def test_a_model_that_cannot_be_asked_ends_the_stage_as_failed(answer: Json) -> None:
    run = Run(alone(retry=RETRIED))
    run.answer(answer)
    assert run.end == (Outcome.FAILED, "a: provider-failed")
    assert run.facts("StageExited", "verdict", "attemptCount") == [["fail", 1]]
    assert run.names("Stage", "Session") == ["ProviderRequestStarted", "ProviderRequestFailed", "WorkflowExit"]


class TestAnotherAttempt:
    def test_goes_on_in_the_same_transcript_with_the_reason_appended(self) -> None:
        never = Check("retry", (), "look again")
        run = Run(alone(checks=(never,), retry=RETRIED))
        step = run.answer(submit(n=1))
        assert step.effects == (Wait("r/a#1/1.1", 100),)
        step = run.answer({})
        handed = said(("s", "submit", {"n": 1}))
        transcript = (SYSTEM, handed, tool("s", "Accepted."), Message("user", "look again"))
        assert (run.turn.key, run.turn.transcript) == ("r/a#1/2.0", transcript)

    def test_has_as_many_turns_as_the_first(self) -> None:
        run = Run(alone(turns=2, retry=RETRIED))
        run.answers({"text": "1"}, {"text": "2"}, {}, {"text": "3"}, {"text": "4"})
        assert run.facts("ProviderRequestStarted", "attempt", "turn") == [[1, 1], [1, 2], [2, 1], [2, 2]]
        assert run.facts("StageExited", "verdict", "attemptCount", "capHit") == [["fail", 2, True]]

    def test_does_not_make_the_prompt_again(self) -> None:
        run = Run(alone(turns=1, retry=RETRIED))
        run.answers({"text": "1"}, {})
        assert [each.role for each in run.turn.transcript] == ["system", "assistant", "user", "user"]
        assert run.facts("StagePreFired", "stage").count("RECEIVE_INPUT") == 1

    def test_is_not_begun_when_there_were_as_many_as_there_may_be(self) -> None:
        run = Run(alone(turns=1, hooks={"exit": "m:f"}))
        run.answer({"text": "1"})
        result = {"verdict": "fail", "reason": "retry-exhausted", "capHit": True, "attemptCount": 1}
        assert run.given["result"] == result

    def test_forgets_what_the_last_one_has_handed_in(self) -> None:
        again = Check("retry", (), "again")
        plan = alone(turns=1, checks=(replace(again, when=()),), retry=RETRIED, hooks={"exit": "m:f"})
        run = Run(plan)
        run.answers(submit(n=1), {}, {"text": "no more"})
        assert "parsed" not in run.given["result"]

    def test_waits_twice_as_long_each_time(self) -> None:
        run = Run(alone(turns=1, retry=Retry(4, Backoff("exponential", 100))))
        run.answers({"text": "1"}, {}, {"text": "2"}, {}, {"text": "3"})
        assert run.next == Wait("r/a#1/3.1", 400)


def test_each_execution_has_a_transcript_of_its_own() -> None:
    run = Run(pipeline(a=stage(edges=to("b")), b=stage(prompt=text("Go on."))))
    run.answers({"text": "hm"}, submit(n=1))
    assert run.turn.transcript == (Message("system", "Go on."),)
