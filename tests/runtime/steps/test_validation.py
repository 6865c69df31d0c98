"""What must hold before the work is done, and what happens when it does not."""

from __future__ import annotations

import pytest
from runtime.stages.talks import Run, text
from runtime.steps.flows import (
    DONE,
    asked,
    at_most,
    closure,
    command,
    flow,
    goes,
    guarded,
    intent_gate,
    output,
    program,
    says,
    step,
    where,
)

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.act import Choice, Each, Hole, Provided
from stagec.ir.plan.document import JudgeDefinition, Success, Validator
from stagec.ir.plan.gate import Condition, JudgeGate, Validation
from stagec.ir.plan.node import Edge, Go, Outcome
from stagec.runtime.machine.exchange import Shell

SILENT = (Success("contains", "ok"), Success("matches", "ok"))
"""Checks of the output that hold of `ok`, and say nothing of a status."""
FAILED = (Outcome.FAILED, "c: validation-failed")
COMPLETED = (Outcome.DONE, "completed")
BAD = output("M a.py\n")


def closed(run: Run, *outputs: Json) -> Run:
    """Lead a run to its closure step, let that close, and answer its validators."""
    run.answers(says("handoff"), says("closing"), *outputs)
    return run


def once_more(run: Run, result: Json) -> Run:
    """Let the work be done again and closed again."""
    run.answers(says("handoff"), says("closing"), result)
    return run


def test_closing_is_no_completion_until_the_validators_have_passed() -> None:
    run = closed(Run(guarded()))
    assert (run.end[0], run.next) == (None, Shell("r/c#1/1.1", "check"))
    run.answer(output())
    assert run.end == COMPLETED


@pytest.mark.parametrize("said", ["repeat", "abort"])
def test_other_intents_are_not_validated(said: str) -> None:
    run = Run(guarded())
    run.answers(says("handoff"), says(said))
    assert where(run) == {"repeat": "c", "abort": "c: aborted"}[said]


@pytest.mark.parametrize(
    ("success", "result", "passes"),
    [
        (Success("empty"), output(), True),
        (Success("empty"), output(" \n\t"), True),
        (Success("empty"), output("", "noise"), True),
        (Success("empty"), output("x"), False),
        (Success("exit", "0"), output("x"), True),
        (Success("exit", "0"), output(status=1), False),
        (Success("exit", "2"), output(status=2), True),
        (Success("exit", "0"), output(status=None), False),
        (Success("exit", "None"), {}, False),
        *((success, output("ok", status=each), False) for success in SILENT for each in (1, 2, 126, 127, 255, None)),
        *((Success("empty"), output(status=each), False) for each in (1, 2, 126, 127, 255, None)),
        (Success("exit", "0"), {}, False),
        (Success("exit", "0"), {"exit": True}, False),
        (Success("contains", "ok"), output("it is ok"), True),
        (Success("contains", "ok"), output("", "ok"), False),
        (Success("contains", ""), output(), True),
        (Success("matches", "^ok [0-9]+$"), output("ok 12"), True),
        (Success("matches", "ok"), output("not OK"), False),
        (Success("matches", "("), output("("), False),
    ],
    ids=str,
)
def test_a_validator_has_succeeded_when_its_condition_holds(success: Success, result: Json, *, passes: bool) -> None:
    run = closed(Run(guarded("abort", success)), result)
    assert run.end == (COMPLETED if passes else FAILED)


def test_conditions_are_checked_in_order_until_one_fails() -> None:
    plan = guarded(conditions=(Condition("clean"), Condition("typed"), Condition("clean")))
    plan = replace(
        plan, validators={**plan.validators, "typed": Validator("types ${of}", Success("exit", "0"), "typed")}
    )
    run = closed(Run(plan))
    assert command(run) == "check"
    run.answer(output())
    assert command(run) == "types ${of}"
    run.answer(output("wrong", status=1))
    assert asked(run).prompt == "The work was checked and is not done: types ${of}\n\nwrong"


@pytest.mark.parametrize(
    ("params", "wanted"),
    [
        ({}, "x ${a} ${b}"),
        ({"a": "1"}, "x 1 ${b}"),
        ({"a": 1.0, "b": None}, "x 1 "),
        ({"a": ["${b}"], "b": True}, 'x ["${b}"] true'),
    ],
)
def test_parameters_are_put_into_a_command_once(params: dict[str, Json], wanted: str) -> None:
    run = closed(Run(guarded(command="x ${a} ${b}", conditions=(Condition("clean", params),))))
    assert command(run) == wanted


class TestRetry:
    def test_leads_back_to_the_step_that_led_here_with_a_prompt_of_its_own(self) -> None:
        run = closed(Run(guarded(prompts={"dirty": text("Commit it.")})), BAD)
        assert (where(run), asked(run).prompt) == ("a", "Commit it.")

    def test_has_a_general_prompt_where_the_pattern_has_none(self) -> None:
        run = closed(Run(guarded(prompts={"other": text("No.")})), output("out\n", "err", 1))
        assert asked(run).prompt == "The work was checked and is not done: check\n\nout\nerr"

    def test_leads_to_the_closure_step_itself_where_nothing_led_to_it(self) -> None:
        plan = replace(guarded(), entries={"": "c"})
        run = Run(plan)
        run.answers(says("closing"), BAD)
        assert where(run) == "c"

    def test_leads_to_what_led_here_however_often_the_closure_step_repeats_itself(self) -> None:
        run = Run(guarded())
        run.answers(says("handoff"), says("repeat"), says("repeat"), says("closing"), BAD)
        assert where(run) == "a"

    def test_keeps_leading_there_when_it_has_led_there_before(self) -> None:
        run = once_more(closed(Run(guarded()), BAD), BAD)
        assert where(run) == "a"

    def test_leads_to_the_last_of_several_that_led_here(self) -> None:
        plan = guarded()
        other = step(*goes(handoff="c"))
        a = step(*goes(handoff="c", next="b"))
        run = Run(replace(plan, nodes={**plan.nodes, "a": a, "b": other}))
        run.answers(says("handoff"), says("closing"), BAD, says("next"), says("handoff"), says("closing"), BAD)
        assert where(run) == "b"

    @pytest.mark.parametrize("attempts", [1, 2, 3, 4])
    def test_ends_the_run_with_the_failure_of_the_last_number(self, attempts: int) -> None:
        run = closed(Run(guarded(attempts=attempts)), BAD)
        for _ in range(attempts - 1):
            assert run.end[0] is None
            once_more(run, BAD)
        assert run.end == FAILED

    def test_is_allowed_three_failures_where_nobody_says(self) -> None:
        assert Validation(()).attempts == 3

    def test_forgets_failures_once_all_has_passed(self) -> None:
        again = closure(Validation((Condition("clean"),), attempts=2))
        plan = guarded()
        run = Run(replace(plan, nodes={**plan.nodes, "c": replace(again, edges=(Edge("closing", Go("a")),))}))
        for result in (BAD, output(), BAD):
            run.answers(says("handoff"), says("closing"), result)
        assert where(run) == "a"

    def test_counts_as_an_execution_against_the_bound(self) -> None:
        run = closed(Run(at_most(guarded(), 2)), BAD)
        assert run.end == (Outcome.FAILED, "a: bound-reached")

    def test_starts_a_step_that_could_not_start_by_itself(self) -> None:
        plan = guarded()
        told = step(*goes(next="c"), variables={"x": Provided("previous_summary")}, needed=("x",))
        run = Run(replace(plan, nodes={**plan.nodes, "a": step(*goes(next="b")), "b": told}))
        run.answer({"answer": {"action": "next"}, "text": "Began."})
        run.answers(says("next"), says("closing"), BAD)
        assert (run.next.key, asked(run).prompt[:16]) == ("r/b#2/1.0", "The work was che")

    def test_is_made_of_what_extractors_find(self) -> None:
        template = (
            Hole(("failure", "status")),
            *text(":"),
            Each(("failure", "changed"), (*text(" "), Hole(("this",)))),
            Choice(("failure", "tests"), text(" tests"), text(" no tests")),
            Hole(("failure", "nothing")),
        )
        extract = {"status": "exitCode", "changed": "parseChangedFiles", "tests": "failedTests", "nothing": "unknown"}
        run = closed(Run(guarded(extract=extract, prompts={"dirty": template})), output(" M a.py\nR  b -> c\n", "", 3))
        assert asked(run).prompt == "3: a.py c no tests"


class TestAbort:
    def test_ends_the_run_with_the_first_failure(self) -> None:
        assert closed(Run(guarded("abort")), BAD).end == FAILED


class TestSkip:
    @pytest.mark.parametrize("attempts", [1, 3])
    def test_goes_on_as_if_all_had_passed_however_many_failures_are_allowed(self, attempts: int) -> None:
        assert closed(Run(guarded("skip", attempts=attempts)), BAD).end == COMPLETED


@pytest.mark.parametrize("action", ["retry", "abort", "skip"])
@pytest.mark.parametrize(
    "result",
    [
        output("x", status=126),
        output("x", status=127),
        output("x", "open: EACCES: no", 1),
        output("x", "sh: Permission denied", 1),
    ],
    ids=["may not run", "no such command", "EACCES", "denied"],
)
def test_a_command_that_cannot_do_its_work_ends_the_run_whatever_the_action(action: str, result: Json) -> None:
    assert closed(Run(guarded(action)), result).end == FAILED


def test_a_command_that_succeeds_all_the_same_has_succeeded() -> None:
    wanted = Success("exit", "127")
    assert closed(Run(guarded(success=wanted)), output("", "Permission denied", 127)).end == COMPLETED


def test_failures_are_told_of() -> None:
    run = once_more(closed(Run(guarded()), BAD), BAD)
    assert run.facts("ValidationFailed", "stageId", "pattern", "failures") == [["c", "dirty", 1], ["c", "dirty", 2]]


def test_a_program_is_validated_when_it_succeeds() -> None:
    guarded_plan = guarded()
    node = replace(program(), validation=Validation((Condition("clean"),)))
    run = Run(replace(guarded_plan, nodes={**guarded_plan.nodes, "c": node}))
    run.answers(says("handoff"), output("built"))
    assert command(run) == "check"
    run.answer(output())
    assert run.end == COMPLETED


def test_a_judge_that_finds_the_work_done_is_validated() -> None:
    validators = {"clean": Validator("check", Success("empty"), "dirty")}
    node = step(Edge("verdict", DONE), *goes(next="a"), gate=JudgeGate(), validation=Validation((Condition("clean"),)))
    run = Run(flow(judge=JudgeDefinition("detect:graph"), validators=validators, a=node))
    run.answer({"answer": {"complete": False}})
    assert where(run) == "a"
    run.answers({"answer": {"complete": True}}, BAD)
    assert (where(run), run.step.state.executions) == ("a", 3)


def test_the_gate_of_a_guarded_step_is_read_as_any_other() -> None:
    plan = guarded()
    node = replace(plan.nodes["c"], gate=intent_gate(fail_fast=False, fallback="closing"))
    run = Run(replace(plan, nodes={**plan.nodes, "c": node}))
    run.answers(says("handoff"), says("no idea"))
    assert command(run) == "check"
