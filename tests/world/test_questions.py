"""What people are asked: the same words and data for everybody who shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec.core.json import Json, object_of
from stagec.plan.document import Plan
from stagec.runtime import load
from stagec.runtime.exchange import Ask, Confirm, Grant, Judge
from stagec.runtime.program import program_of
from stagec.world.questions import (
    AskedOfPeople,
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
