"""What one execution of a node costs: every attempt, turn, wait and validation that the plan allows it."""

from __future__ import annotations

import pytest
from handmade import stages, steps

from stagec.core.value import replace
from stagec.ir.graph.usage import MOST, Assumed, Expense, add_waits, find_unlimited, spend
from stagec.ir.plan.act import Command, Converse, Prompt
from stagec.ir.plan.document import JudgeDefinition
from stagec.ir.plan.gate import Admission, Backoff, Condition, ExitGate, JudgeGate, Retry, Validation
from stagec.ir.plan.node import Node

ASSUMED = Assumed(None, 7)
TALK = Converse((), (), "submit", "", 5)


def costs(node: Node) -> tuple[Expense, Expense]:
    return spend(node, ASSUMED, is_retried=False), spend(node, ASSUMED, is_retried=True)


def test_a_prompt_is_corrected_once() -> None:
    assert costs(Node(Prompt(), ExitGate(), ())) == (Expense(1, 0), Expense(2, 0))


def test_a_command_takes_its_limit() -> None:
    assert costs(Node(Command(((),), 30), ExitGate(), ())) == (Expense(0, 30), Expense(0, 30))


def test_a_conversation_takes_all_turns_of_every_attempt_and_waits_between_them() -> None:
    node = Node(TALK, ExitGate(), (), retry=Retry(3, Backoff("fixed", 100)))
    assert costs(node) == (Expense(5, 0), Expense(15, 200))
    assert costs(replace(node, retry=None)) == (Expense(5, 0), Expense(5, 0))


def test_a_conversation_that_asks_for_admission_again_waits_as_often_once_more() -> None:
    node = Node(TALK, ExitGate(), (), retry=Retry(3, Backoff("fixed", 100)))
    assert costs(replace(node, admission=Admission("fail", "retry-later")))[1] == Expense(15, 400)
    assert costs(replace(node, admission=Admission("fail", "skip")))[1] == Expense(15, 200)


def test_each_condition_of_a_validation_takes_the_limit_of_a_validator() -> None:
    node = Node(Prompt(), ExitGate(), (), validation=Validation((Condition("a"), Condition("b"))))
    assert costs(node) == (Expense(1, 14), Expense(2, 14))


def test_a_command_with_a_retry_that_it_never_makes_costs_no_more() -> None:
    node = Node(Command(((),), 30), ExitGate(), (), retry=Retry(3, Backoff("fixed", 100)))
    assert costs(node) == (Expense(0, 30), Expense(0, 30))


@pytest.mark.parametrize(
    ("retry", "milliseconds"),
    [
        (Retry(1, Backoff("fixed", 100)), 0),
        (Retry(4, Backoff("fixed", 100)), 300),
        (Retry(4, Backoff("none", 100)), 0),
        (Retry(4, Backoff("exponential", 100)), 700),
        (Retry(4, Backoff("exponential", 0)), 0),
        (Retry(5, Backoff("exponential", 40_000_000)), 40_000_000 + 80_000_000 + 2 * 86_400_000),
        (Retry(2**53 - 1, Backoff("exponential", 1)), MOST),
    ],
)
def test_waits_add_up_as_a_run_makes_them(retry: Retry, milliseconds: int) -> None:
    assert add_waits(retry) == milliseconds


def test_what_may_take_any_time_is_named() -> None:
    plan = stages()
    assert [*find_unlimited(plan, "plan", Assumed())] == ["model", "hook"]
    assert [*find_unlimited(replace(plan, session=None), "lint", Assumed(1))] == []
    asked = replace(plan.nodes["lint"], admission=Admission("ask", "fail"))
    assert [*find_unlimited(replace(plan, nodes={"lint": asked}), "lint", Assumed(1))] == ["person", "hook"]


def test_a_judge_that_asks_the_world_may_take_any_time() -> None:
    plan = replace(steps(), nodes={"a": Node(Prompt(), JudgeGate(), ())})
    assert [*find_unlimited(plan, "a", Assumed(1))] == ["judge"]
    assert [*find_unlimited(replace(plan, judge=JudgeDefinition("count:check")), "a", Assumed(1))] == []
