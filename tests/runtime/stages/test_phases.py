"""The phases of a stage: what each may do with the context, and what its callables decide."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from runtime.stages.talks import CONTENTS, RESULT, SYSTEM, Run, alone, pipeline, stage, submit, to

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.act import Hole
from stagec.ir.plan.document import Input
from stagec.ir.plan.gate import Among, Backoff, Check, Retry
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine import State, StepResult
from stagec.runtime.machine.acts import hooks
from stagec.runtime.machine.exchange import MACHINE, Hook, Message, Turn
from stagec.runtime.machine.failures import FailureKind, RunFailure

ALL = {"setup": "m:setup", "gate": "m:gate", "assert": "m:assert", "exit": "m:exit"}
TASK = (Hole(("ctx", "task")),)
CONTEXT = {"upstream": [], "workflowRunId": "r", "stageExecutionId": "r/a#1", "attempts": []}
TRANSCRIPT: list[Json] = [
    {"role": "system", "text": "Work."},
    {"role": "assistant", "text": "", "calls": [{"id": "s", "tool": "submit", "arguments": {"n": 1}}]},
    {"role": "tool", "text": "Accepted.", "call": "s"},
]


def test_callables_are_called_in_the_order_of_the_phases_and_given_what_they_may_see() -> None:
    run = Run(alone(hooks=ALL))
    assert run.step.effects == (Hook("r/a#1/1.0", "m:setup", "setup", {"ctx": CONTEXT}),)
    step = run.answer({"value": {"task": "t"}})
    context = {"task": "t", **CONTEXT}
    assert step.effects == (Hook("r/a#1/1.1", "m:gate", "gate", {"ctx": context}),)
    run.answers({"value": "proceed"}, submit(n=1))
    record = {"turns": 1, "capHit": False}
    acted = {"ctx": {**context, "attempts": [record]}, "transcript": TRANSCRIPT, "attempts": [record]}
    assert run.step.effects == (
        Hook("r/a#1/1.3", "m:assert", "assert", {**acted, "parsed": {"n": 1}, "capHit": False}),
    )
    step = run.answer({"value": "ok"})
    result = {"verdict": "ok", "reason": "", "parsed": {"n": 1}, "capHit": False, "attemptCount": 1}
    assert step.effects == (Hook("r/a#1/1.4", "m:exit", "exit", {**acted, "result": result}),)


@pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
def test_the_rights_of_the_phases_are_those_of_the_document() -> None:
    file = Path(os.environ["STAGEC_CORPUS"], "stage-definitions", "upstream", "phases-and-ctx-access.json")
    told = json.loads(file.read_bytes())
    assert list(hooks.ACCESS) == told["phases"]
    assert {phase: sorted(each) for phase, each in hooks.ACCESS.items()} == told["access"]


@pytest.mark.parametrize("phase", [each for each in hooks.ACCESS if each != "Setup"])
def test_only_the_setup_may_write(phase: str) -> None:
    assert hooks.find_refusal(phase, hooks.WRITE) == "Validation/ContextMutationForbidden"
    assert hooks.find_refusal("Setup", hooks.WRITE) is None


class TestSetup:
    @pytest.mark.parametrize(
        ("answer", "task"),
        [
            ({"value": None}, "given"),
            ({"value": {}}, "given"),
            ({"value": {"task": "new"}}, "new"),
            ({"value": None, "ctx": {"task": "left"}}, "left"),
            ({"value": {"task": "new"}, "ctx": {"task": "left"}}, "new"),
        ],
    )
    def test_may_give_names_a_value(self, answer: Json, task: str) -> None:
        run = Run(alone(prompt=TASK, hooks={"setup": "m:f"}), task="given")
        run.answer(answer)
        assert run.turn.transcript == (Message("system", task),)

    @pytest.mark.parametrize("name", sorted(hooks.RESERVED))
    @pytest.mark.parametrize("member", ["value", "ctx"])
    def test_may_not_give_a_reserved_name_another_value(self, name: str, member: str) -> None:
        run = Run(alone(hooks={"setup": "m:f", "gate": "m:g"}))
        run.answer({"value": {}, member: {name: "mine"}})
        assert run.end == (Outcome.FAILED, "a: init-failed")
        assert run.facts("StageInitFailed", "reason", "error") == [
            [
                f"its hook writes '{name}'",
                {"class": "Validation", "code": "ContextMutationForbidden", "phase": "Setup", "stageId": "a"},
            ]
        ]

    def test_may_return_the_reserved_names_as_they_are(self) -> None:
        run = Run(alone(hooks={"setup": "m:f", "gate": "m:g"}))
        given = run.given["ctx"]
        run.answer({"value": {"upstream": given["upstream"]}, "ctx": given})
        assert run.given["ctx"] == CONTEXT

    @pytest.mark.parametrize("answer", [{}, None, {"error": "raised"}, {"value": 1}, {"value": ["task"]}])
    def test_that_fails_ends_the_stage_before_it_acts(self, answer: Json) -> None:
        run = Run(alone(hooks={"setup": "m:f", "exit": "m:g"}))
        run.answer(answer)
        assert run.end == (Outcome.FAILED, "a: init-failed")
        error = {"class": "ExtensionHost", "code": "LifecycleFailure", "phase": "Setup", "stageId": "a"}
        assert run.facts("StageInitFailed", "phase", "error") == [["Setup", error]]

    def test_refuses_a_value_that_the_context_does_not_allow(self) -> None:
        plan = alone(hooks={"setup": "m:f"})
        plan = replace(plan, inputs={"task": Input(schema=CONTENTS.add('{"type":"string"}'))}, contents=CONTENTS.texts)
        run = Run(plan)
        run.answer({"value": {"task": 7}})
        assert run.facts("StageInitFailed", "phase", "reason") == [["Setup", "task: 7 is not a string"]]

    def test_refuses_a_result_that_the_stage_does_not_accept_before_anything_is_called(self) -> None:
        schema = CONTENTS.add('{"properties":{"parsed":{"required":["n"]}}}')
        run = Run(pipeline(a=stage(edges=to("b")), b=stage(accepts=schema, hooks=ALL)))
        run.answer(submit())
        assert run.end == (Outcome.FAILED, "b: init-failed")
        assert run.facts("StageInitFailed", "stageId", "phase") == [["b", "Setup"]]


class TestInit:
    def test_makes_the_prompt_once_and_does_not_look_for_holes_in_values(self) -> None:
        run = Run(alone(prompt=TASK), task="{{ctx.busy}}")
        assert run.turn.transcript == (Message("system", "{{ctx.busy}}"),)

    def test_fails_where_a_hole_leads_to_nothing(self) -> None:
        run = Run(alone(prompt=TASK, hooks={"exit": "m:f"}))
        where = {"workflowRunId": "r", "stageId": "a", "stageExecutionId": "r/a#1", "attempt": 1}
        assert run.end == (Outcome.FAILED, "a: init-failed")
        assert run.step.trace[2].facts == {"seq": 3, **where, "phase": "Init", "reason": "ctx.task has no value"}
        assert run.names() == [
            "SessionTurnStart",
            "StageEntered",
            "StageInitFailed",
            "SessionTurnEnd",
            "WorkflowExit",
        ]

    def test_writes_null_as_nothing(self) -> None:
        assert Run(alone(prompt=TASK), task=None).turn.transcript == (Message("system", ""),)

    def test_refuses_a_tool_with_the_name_of_the_completion_tool(self) -> None:
        run = Run(alone("Read", "submit"))
        assert run.facts("StageInitFailed", "phase", "reason") == [["Init", "completion-tool-collision"]]


class TestAssert:
    @pytest.mark.parametrize(
        ("said", "verdict", "reason"),
        [
            ("ok", "ok", ""),
            ("fail", "fail", ""),
            ({"verdict": "fail", "reason": "thin"}, "fail", "thin"),
            (None, "fail", "declared"),
        ],
    )
    def test_has_the_last_word(self, said: Json, verdict: str, reason: str) -> None:
        declared = Check("fail", (Among(("parsed", "n"), (1,)),), "declared")
        run = Run(alone(hooks={"assert": "m:f"}, checks=(declared,)))
        run.answers(submit(n=1), {"value": said})
        assert run.facts("StageAssertOutcome", "verdict", "reason") == [[verdict, reason]]

    def test_may_accept_a_cap(self) -> None:
        run = Run(alone(turns=1, hooks={"assert": "m:f"}))
        run.answers({"text": "hm"}, {"value": "ok"})
        assert (run.end, run.facts("StageExited", "verdict", "capHit")) == ((Outcome.DONE, "completed"), [["ok", True]])

    def test_may_begin_another_attempt(self) -> None:
        run = Run(alone(hooks={"assert": "m:f"}, retry=Retry(2, Backoff())))
        run.answers(submit(n=1), {"value": {"verdict": "retry", "reason": "more"}}, {})
        assert run.turn.transcript[-1] == Message("user", "more")

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            ({}, "LifecycleFailure"),
            (None, "LifecycleFailure"),
            ({"error": "raised"}, "LifecycleFailure"),
            ({"value": "skip"}, "LifecycleFailure"),
            ({"value": 3}, "LifecycleFailure"),
            ({"value": {"verdict": ["ok"]}}, "LifecycleFailure"),
            ({"value": "ok", "ctx": {"illegal": True}}, "ContextMutationForbidden"),
        ],
    )
    def test_that_fails_is_a_verdict(self, answer: Json, reason: str) -> None:
        run = Run(alone(hooks={"assert": "m:f"}, retry=Retry(3, Backoff())))
        run.answers(submit(n=1), answer)
        assert run.facts("StageAssertOutcome", "verdict", "reason") == [["fail", reason]]
        assert run.end == (Outcome.FAILED, "a: hook-failed")

    def test_may_return_the_context_as_it_was(self) -> None:
        run = Run(alone(hooks={"assert": "m:f"}))
        run.answer(submit(n=1))
        run.answer({"value": "ok", "ctx": run.given["ctx"]})
        assert run.end == (Outcome.DONE, "completed")


class TestExit:
    def test_may_add_an_output_to_the_result(self) -> None:
        prompt = (Hole(("ctx", "upstream", 0, "output")),)
        run = Run(pipeline(a=stage(edges=to("b"), hooks={"exit": "m:f"}), b=stage(prompt=prompt)))
        run.answers(submit(n=1), {"value": {"digest": "d"}})
        assert run.turn.transcript == (Message("system", '{"digest":"d"}'),)

    def test_without_an_output_leaves_the_result(self) -> None:
        run = Run(pipeline(a=stage(edges=to("b"), hooks={"exit": "m:f"}), b=stage(hooks={"setup": "m:g"})))
        run.answers(submit(n=1), {"value": None})
        result = {"verdict": "ok", "reason": "", "parsed": {"n": 1}, "capHit": False, "attemptCount": 1}
        assert run.given["ctx"]["upstream"] == [result]

    def test_follows_a_failure_as_well(self) -> None:
        run = Run(alone(turns=1, hooks={"exit": "m:f"}))
        run.answer({"text": "hm"})
        assert run.hook.phase == "exit"

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            ({}, "LifecycleFailure"),
            ({"error": "raised"}, "LifecycleFailure"),
            ({"value": None, "ctx": {}}, "ContextMutationForbidden"),
        ],
    )
    def test_that_fails_makes_the_stage_fail(self, answer: Json, reason: str) -> None:
        after = stage(hooks={"setup": "m:g"})
        edges = (to("b")[0], replace(to("b")[0], on="fail"))
        run = Run(pipeline(a=stage(edges=edges, hooks={"exit": "m:f"}), b=after))
        run.answers(submit(n=1), answer)
        (result,) = run.given["ctx"]["upstream"]
        assert (result["verdict"], result["reason"]) == ("fail", reason)


def test_what_a_stage_leaves_is_its_result_and_nothing_of_its_transcript() -> None:
    run = Run(pipeline(a=stage(edges=to("b")), b=stage()))
    step = run.answer(submit(n=1))
    assert list(step.state.active) == ["r/b#1"]
    assert run.turn == Turn("r/b#1/1.0", (SYSTEM,), (), "submit", RESULT)


def test_a_stage_that_nothing_can_be_asked_about_is_over_in_one_step() -> None:
    run = Run(alone(prompt=TASK))
    assert (run.step.effects, run.step.void, type(run.step)) == ((), (), StepResult)
    failure = RunFailure(FailureKind.INIT, "Init: ctx.task has no value", "a")
    reason = "a, attempt 1: init failed: Init: ctx.task has no value"
    over = {"ended": Outcome.FAILED, "reason": reason, "failure": failure, "traced": 5, "machine": MACHINE}
    ended = replace(State("r", "", {}, 1, run.step.state.past), **over)
    assert run.step.state == ended
