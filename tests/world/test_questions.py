"""What people are asked: the same words and data for everybody who shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec.core.json import Json, object_of
from stagec.core.value import replace
from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import Admission, Among, Exists
from stagec.ir.plan.node import Edge, Fork, Go, Outcome, Stop, Target
from stagec.runtime.machine import load
from stagec.runtime.machine.exchange import Ask, Confirm, Grant, Judge
from stagec.runtime.machine.execution import Conversation, Execution
from stagec.runtime.machine.program import program_of
from stagec.runtime.world.questions import (
    AskedOfPeople,
    OpenQuestion,
    describe_question,
    is_for_people,
    list_open_questions,
    make_answer,
    question_to_json,
    read_decision,
)

PLAN = Path(__file__).parents[1] / "plan_vectors" / "docs-repair" / "plan.json"
HIDDEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
GRANT = Grant("r/check#2/1.0", "r/check#2", 1, "p", "Delete", "sha", f'{{"path":"a","key":"{HIDDEN}"}}')
CONFIRM = Confirm("r/check#1/1.0", f"The budget is low {HIDDEN}")
JUDGE = Judge("r/check#1/1.0", "poll:state", {}, {"said": HIDDEN})
ALL: tuple[AskedOfPeople, ...] = (GRANT, CONFIRM, JUDGE)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return load(PLAN.read_bytes()).plan


def test_a_question_says_who_asks_what_and_what_follows(plan: Plan) -> None:
    asked = describe_question(plan, GRANT)
    assert (asked.key, asked.kind, asked.who) == ("r/check#2/1.0", "grant", "check#2")
    assert asked.sentence == "may stage 'check#2' call the tool 'Delete', which its plan does not allow"
    assert asked.details[0] == "effects: unknown, it may change anything"
    assert "digest of the arguments: sha" in asked.arguments
    assert [describe_question(plan, each).kind for each in ALL] == ["grant", "confirm", "judge"]


@pytest.mark.parametrize("effect", ALL)
def test_a_question_is_json_without_secrets_and_says_both_consequences(plan: Plan, effect: AskedOfPeople) -> None:
    told = question_to_json(describe_question(plan, effect))
    assert HIDDEN not in json.dumps(told)
    assert set(object_of(told["consequences"])) == {"yes", "no"}


BUSY = Admission("ask", "ask", (Among(("ctx", "load"), ("high", "full")),), (Exists(("ctx", "task"), present=True),))


def confirm(plan: Plan, admission: Admission, context: dict[str, Json] | None, **hooks: str) -> OpenQuestion:
    """Return what is asked before a node acts, in an execution with a context if there is one."""
    node = replace(plan.nodes["check"], admission=admission, hooks=hooks)
    known = None if context is None else Execution("r/check#1", "check", (), progress=Conversation(context=context))
    return describe_question(replace(plan, nodes={**plan.nodes, "check": node}), CONFIRM, known)


def test_a_question_names_its_rule_and_the_values_for_which_it_is_asked(plan: Plan) -> None:
    blocked = confirm(plan, BUSY, {"task": HIDDEN})
    assert blocked.details[0] == "rule: the node is blocked when ctx.task exists; then its policy is to ask"
    assert blocked.details[1].startswith("value: ctx.task is ")
    assert HIDDEN not in "".join(blocked.details)
    deferred = confirm(plan, BUSY, {"load": "full"}, gate="checks:gate").details
    rule = 'ctx.load is "high" or "full", or the callable \'checks:gate\' says so'
    assert deferred == (
        f"rule: the node is deferred when {rule}; then its policy is to ask",
        'value: ctx.load is "full"',
    )
    assert confirm(plan, replace(BUSY, on_defer="skip"), None).details == blocked.details[:1]
    assert describe_question(plan, JUDGE).details == ("rule: the condition poll:state of the plan asks people",)
    rule = next(each for each in describe_question(plan, GRANT).details if each.startswith("rule: "))
    assert rule.startswith("rule: stage 'check' calls ")
    assert rule.endswith("; people are asked about every other call")


@pytest.mark.parametrize(
    ("target", "told"),
    [
        (Stop(Outcome.FAILED), "the run, or its branch, ends as failed"),
        (Go("fix"), "the run continues with 'fix'"),
        (Fork(("a", "b")), "the run continues with 'a' and 'b'"),
    ],
)
def test_a_question_says_where_a_no_leads(plan: Plan, target: Target, told: str) -> None:
    node = replace(plan.nodes["check"], admission=BUSY, edges=(Edge("fail", target),))
    asked = describe_question(replace(plan, nodes={**plan.nodes, "check": node}), CONFIRM)
    assert asked.consequences["no"] == f"the node does not act, and its outcome is 'fail': {told}"


def test_models_and_tools_are_not_people(plan: Plan) -> None:
    ask = Ask("r/a#1/1.0", "p")
    assert not is_for_people(ask)
    assert [each.key for each in list_open_questions(program_of(plan), (ask, GRANT))] == [GRANT.key]
    assert read_decision(ask, {"yes": True}) is None


@pytest.mark.parametrize("effect", ALL)
@pytest.mark.parametrize("yes", [True, False])
def test_an_answer_is_read_as_it_was_made(effect: AskedOfPeople, *, yes: bool) -> None:
    assert read_decision(effect, make_answer(effect, yes=yes)) is yes


@pytest.mark.parametrize("answer", [None, True, {}, {"granted": 1}, {"granted": "yes"}, {"yes": True}, ["granted"]])
def test_an_answer_that_does_not_fit_is_none(answer: Json) -> None:
    assert read_decision(GRANT, answer) is None
