"""What a model is asked: variables and their sources, the system prompt, answers that are none, and the bound."""

from __future__ import annotations

import json

import pytest
from runtime.stages.talks import CONTENTS, Run, text
from runtime.steps.flows import (
    DONE,
    asked,
    at_most,
    flow,
    goes,
    judged,
    output,
    program,
    reading,
    says,
    step,
    where,
)

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.act import Carried, Given, Hole, Provided, Supply
from stagec.ir.plan.document import Input, JudgeDefinition, System
from stagec.ir.plan.node import Edge, Go, Outcome
from stagec.runtime.machine import Started, State, advance
from stagec.runtime.machine.exchange import Ask
from stagec.runtime.machine.exchange import Run as RunProgram
from stagec.runtime.machine.failures import FailureKind, RunFailure
from stagec.runtime.machine.program import program_of

END = step(Edge("next", DONE))
ENDLESS = (Outcome.FAILED, "a: bound-reached")


class TestAVariable:
    @pytest.mark.parametrize(
        ("supply", "wanted"),
        [
            (Given("who"), "Ada"),
            (Provided("who"), "Ada"),
            (Provided("iteration"), "1"),
            (Provided("completed_iterations"), "0"),
            (Provided("max_iterations"), "20"),
            (Provided("remaining"), "20"),
            (Provided("completion_keyword"), "DONE"),
            (Provided("max_checks"), "4"),
            (Provided("check_count"), "0"),
            (Provided("previous_summary"), ""),
            (
                Provided("verdict_criteria"),
                "The work is judged by detect:keyword (maxChecks: 4, verdictKeyword: DONE).",
            ),
            (Carried("b", "x", required=False), ""),
            (Carried("b", "x", default=1.5), "1.5"),
            (Carried("b", "x", required=False, default=[True]), "[true]"),
        ],
        ids=str,
    )
    def test_comes_from_where_the_plan_says(self, supply: Supply, wanted: str) -> None:
        judge = JudgeDefinition("detect:keyword", {"verdictKeyword": "DONE", "maxChecks": 4})
        run = Run(flow(judge=judge, a=reading({"x": supply}), b=END), who="Ada")
        assert asked(run).prompt == f"{wanted}\n"

    def test_of_the_runner_goes_before_an_input_of_its_name(self) -> None:
        run = Run(flow(a=reading({"x": Provided("iteration")}), b=END), iteration=7)
        assert asked(run).prompt == "1\n"

    @pytest.mark.parametrize(
        "supply", [Given("who"), Provided("who"), Provided("max_checks"), Provided("no"), Carried("b", "x")], ids=str
    )
    def test_that_has_no_source_keeps_a_step_from_starting(self, supply: Supply) -> None:
        run = Run(flow(a=reading({"x": supply}), b=END))
        assert run.end == (Outcome.FAILED, "a: cannot-start")

    @pytest.mark.parametrize("given", ["", None])
    def test_that_is_needed_must_not_be_empty(self, given: Json) -> None:
        run = Run(flow(a=reading({"x": Given("who")}, "x"), b=END), who=given)
        assert run.end == (Outcome.FAILED, "a: cannot-start")

    @pytest.mark.parametrize("given", ["", None])
    def test_that_is_not_needed_may_be_empty(self, given: Json) -> None:
        run = Run(flow(a=reading({"x": Given("who")}), b=END), who=given)
        assert asked(run).prompt == "\n"

    @pytest.mark.parametrize(("given", "wanted"), [(0, "0"), (False, "false"), ([], "[]"), ({"a": 1.0}, '{"a":1}')])
    def test_is_a_text_as_holes_write_it(self, given: Json, wanted: str) -> None:
        run = Run(flow(a=reading({"x": Given("who")}, "x"), b=END), who=given)
        assert asked(run).prompt == f"{wanted}\n"

    def test_is_carried_over_from_the_last_result_of_a_step(self) -> None:
        b = reading({"x": Carried("a", "n")})
        run = Run(flow(a=step(*goes(repeat="a", next="b")), b=b))
        run.answers(says("repeat", n=1), says("next", n=2))
        assert asked(run).prompt == "2\n"

    def test_that_is_carried_over_may_be_null(self) -> None:
        b = reading({"x": Carried("a", "n", default="no")})
        run = Run(flow(a=step(*goes(next="b")), b=b))
        run.answer(says("next", n=None))
        assert asked(run).prompt == "\n"

    def test_is_carried_over_from_a_program(self) -> None:
        plan = flow(a=program(Edge("closing", Go("b")), *goes(repeat="a")), b=reading({"x": Carried("a", "stdout")}))
        run = Run(plan)
        run.answer(output("built"))
        assert asked(run).prompt == "built\n"


def test_the_runner_counts_executions_and_keeps_what_the_model_said() -> None:
    names = ("iteration", "completed_iterations", "remaining", "check_count", "previous_summary")
    plan = judged("count:check", maxChecks=9)
    told = {name: Provided(name) for name in names}
    a = replace(plan.nodes["a"], act=reading(told).act)
    run = Run(replace(plan, nodes={"a": a}))
    assert asked(run).prompt == "1\n0\n20\n0\n\n"
    run.answer({"answer": {}, "text": "Began."})
    assert asked(run).prompt == "2\n1\n19\n1\nBegan.\n"
    run.answer({"answer": {}})
    assert asked(run).prompt == "3\n2\n18\n2\n\n"


def test_a_variable_of_the_bound_is_not_provided_where_there_is_none() -> None:
    plan = flow(a=reading({"x": Provided("remaining")}), b=END)
    run = Run(replace(plan, limits=replace(plan.limits, executions=None)))
    assert run.end == (Outcome.FAILED, "a: cannot-start")


def test_the_standard_input_is_a_text_that_may_be_absent() -> None:
    a = step(*goes(next="a"), prompt=(*text("<"), Hole(("stdin",)), *text(">")))
    assert [asked(Run(flow(a=a), **given)).prompt for given in ({}, {"stdin": "piped"})] == ["<>", "<piped>"]


def test_a_step_without_a_prompt_cannot_start() -> None:
    run = Run(flow(a=step(*goes(next="a"), prompt=None, builtin="initial_issue")))
    assert run.end == (Outcome.FAILED, "a: cannot-start")


def test_a_step_that_cannot_start_has_not_begun() -> None:
    run = Run(flow(a=step(Edge("next", Go("b"))), b=step(prompt=None)))
    run.answer(says("next"))
    assert (run.step.state.executions, run.names()[-2:]) == (1, ["StageInitFailed", "WorkflowExit"])


class TestTheSystemPrompt:
    def system(self, path: tuple[str | int, ...], **given: Json) -> str | None:
        plan = replace(
            flow(a=step(*goes(next="a"))), system=System((*text("<"), Hole(path), *text(">")), {"x": Given("who")})
        )
        return asked(Run(plan, **given)).system

    @pytest.mark.parametrize(
        ("path", "given", "wanted"),
        [
            (("variable", "x"), {"who": "Ada"}, "<Ada>"),
            (("variable", "x"), {}, "<>"),
            (("variable", "x", "deep"), {"who": "Ada"}, "<>"),
            (("stdin",), {"stdin": "piped"}, "<piped>"),
            (("stdin",), {}, "<>"),
            (("stdin", "deep"), {"stdin": {"deep": 1}}, "<1>"),
            (("stdin", "deep"), {}, "<>"),
        ],
    )
    def test_has_its_own_variables_and_what_is_missing_is_empty(
        self, path: tuple[str, ...], given: dict[str, Json], wanted: str
    ) -> None:
        assert self.system(path, **given) == wanted

    def test_is_absent_where_the_plan_has_none(self) -> None:
        assert asked(Run(flow(a=step(*goes(next="a"))))).system is None


def test_a_model_is_asked_with_what_the_step_says() -> None:
    schema = CONTENTS.add(json.dumps({"type": "object"}))
    a = step(*goes(next="a"), schema=schema, tools=("Read",), model="haiku", permission="plan")
    assert Run(flow(a=a)).next == Ask("r/a#1/1.0", "Do it.", None, schema, ("Read",), "haiku", "plan")


class TestAnAnswer:
    SCHEMA = CONTENTS.add(json.dumps({"type": "object", "required": ["n"]}))

    def begun(self) -> Run:
        return Run(flow(a=step(*goes(next="a"), schema=self.SCHEMA)))

    @pytest.mark.parametrize(
        ("answer", "complaint"),
        [
            ({"answer": {"action": "next"}}, '"n" is a required property'),
            ({"answer": ["next"]}, "the answer is no object"),
            ({"answer": None}, "the answer is no object"),
            ({"error": "overloaded"}, "the answer is no object"),
            ({}, "the answer is no object"),
            (None, "the answer is no object"),
            ("next", "the answer is no object"),
        ],
        ids=str,
    )
    def test_that_is_none_is_asked_for_once_more_with_what_is_wrong(self, answer: Json, complaint: str) -> None:
        run = self.begun()
        run.answer(answer)
        assert (asked(run).key, asked(run).complaint) == ("r/a#1/2.0", complaint)

    def test_may_be_the_second_one(self) -> None:
        run = self.begun()
        run.answers({}, says("next", n=1))
        assert run.next.key == "r/a#2/1.0"

    def test_that_is_none_twice_ends_the_run(self) -> None:
        run = self.begun()
        run.answers({}, {"answer": {}})
        assert run.end == (Outcome.FAILED, "a: invalid-answer")

    def test_that_is_none_makes_no_record(self) -> None:
        run = self.begun()
        run.answer({"answer": {"action": "next"}})
        assert run.step.state.past["a"].record is None


class TestTheBound:
    def test_ends_the_run_when_another_step_would_begin(self) -> None:
        run = Run(at_most(flow(a=step(*goes(next="a"))), 3))
        run.answers(*[says("next")] * 3)
        assert (run.end, run.step.state.executions) == (ENDLESS, 3)

    def test_lets_the_last_step_end_the_run_itself(self) -> None:
        run = Run(at_most(flow(a=step(*goes(next="b")), b=END), 2))
        run.answers(says("next"), says("next"))
        assert run.end == (Outcome.DONE, "completed")

    def test_may_be_an_end_that_was_wanted(self) -> None:
        run = Run(at_most(flow(a=step(*goes(next="a"))), 1, Outcome.DONE))
        run.answer(says("next"))
        assert run.end == (Outcome.DONE, "bound reached")

    def test_does_not_count_the_attempts_of_a_step(self) -> None:
        run = Run(at_most(flow(a=step(*goes(next="a"))), 2))
        run.answers({}, says("next"))
        assert run.next.key == "r/a#2/1.0"

    def test_is_asked_about_before_anything_else(self) -> None:
        run = Run(at_most(flow(a=step(*goes(next="b")), b=step(prompt=None)), 1))
        run.answer(says("next"))
        assert run.end == (Outcome.FAILED, "b: bound-reached")


class TestAProgram:
    @pytest.mark.parametrize(
        ("status", "place"), [(0, "completed"), (1, "a"), (-9, "a"), (None, "a"), ("0", "a"), (False, "a")]
    )
    def test_has_succeeded_when_it_says_0(self, status: Json, place: str) -> None:
        run = Run(flow(a=program()))
        run.answer(output(status=status))
        assert where(run) == place

    def test_is_run_with_the_inputs_of_the_run(self) -> None:
        node = program()
        words = (text("make"), (*text("-C"), Hole(("input", "who"))))
        run = Run(flow(a=replace(node, act=replace(node.act, words=words))), who="Ada")
        assert run.next == RunProgram("r/a#1/1.0", ("make", "-CAda"), 1000)

    @pytest.mark.parametrize(("given", "why"), [({}, "input.who has no value"), ({"who": None}, "input.who is null")])
    def test_is_not_run_without_a_value_for_a_word(self, given: dict[str, Json], why: str) -> None:
        node = program()
        run = Run(flow(a=replace(node, act=replace(node.act, words=((Hole(("input", "who")),),)))), **given)
        assert run.failure == RunFailure(FailureKind.UNSTARTABLE, why, "a")


class TestTheBeginning:
    PLAN = replace(
        flow(a=END, b=step(Edge("next", DONE))),
        entries={"": "a", "poll:state": "b"},
        inputs={"who": Input(required=True), "n": Input(default=3, schema=CONTENTS.add('{"type":"integer"}'))},
    )

    @pytest.mark.parametrize(("entry", "place"), [("", "a"), ("poll:state", "b"), (None, "a")])
    def test_is_where_the_entry_says(self, entry: str | None, place: str) -> None:
        begun = advance(program_of(self.PLAN), State(), Started("r", entry, {"who": "Ada"}))
        assert [each.key for each in begun.effects] == [f"r/{place}#1/1.0"]

    @pytest.mark.parametrize(
        ("entry", "given", "why"),
        [
            ("none", {"who": 1}, "there is no entry 'none'"),
            (None, {}, "the input 'who' is missing"),
            (None, {"who": 1, "other": 1}, "there is no input 'other'"),
            (None, {"who": 1, "n": "x"}, "the input 'n' cannot be used: \"x\" is not an integer"),
        ],
    )
    def test_is_refused(self, entry: str | None, given: dict[str, Json], why: str) -> None:
        begun = advance(program_of(self.PLAN), State(), Started("r", entry, given))
        assert (begun.effects, begun.state.ended) == ((), Outcome.FAILED)
        assert begun.state.failure == RunFailure(FailureKind.UNFIT_START, why)
