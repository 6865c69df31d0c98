"""Repeats that a plan bounds are counted: each in a row once, and again whenever another outcome began the row anew."""

from __future__ import annotations

import pytest
from handmade import repeating
from runtime.stages.talks import text
from runtime.steps.flows import DONE, closure, flow, goes, intent_gate, step

from stagec.core.value import replace
from stagec.ir.graph.bounds import bound
from stagec.ir.graph.figures import EntryBounds
from stagec.ir.graph.usage import Assumed
from stagec.ir.plan.act import Repeat
from stagec.ir.plan.document import Limits, Plan
from stagec.ir.plan.gate import Condition, Validation
from stagec.ir.plan.node import Edge, Node


def looping(most: int, *edges: Edge, back: str = "a") -> Node:
    """Return a step that can repeat itself so often."""
    gate = intent_gate(intents=("next", "repeat"))
    return step(*edges, *goes(repeat=back), gate=gate, repeats=(Repeat(text("Again.")),) * most)


def bounds(plan: Plan, limit: int | None = None) -> EntryBounds:
    return bound(replace(plan, limits=Limits(limit)), Assumed()).entries[0]


@pytest.mark.parametrize("most", [0, 1, 5, 2_000])
def test_a_step_alone_is_executed_once_more_than_it_repeats(most: int) -> None:
    found = bounds(flow(a=looping(most, Edge("next", DONE))))
    assert (found.executions.first, found.executions.most) == (most + 1, most + 1)
    assert (found.cycles, found.is_cut) == ((), False)
    assert found.longest == ("a",) * min(most + 1, 1_000)


def test_repeats_of_several_steps_add_up() -> None:
    plan = flow(a=looping(2, *goes(next="b")), b=looping(3, Edge("next", DONE), back="b"))
    found = bounds(plan)
    assert found.executions.most == 7
    assert found.longest == ("a", "a", "a", "b", "b", "b", "b")


def test_the_limit_of_the_run_counts_where_it_is_smaller() -> None:
    found = bounds(flow(a=looping(9, Edge("next", DONE))), 4)
    assert (found.executions.most, found.is_cut) == (4, True)


def test_another_cycle_has_no_end_but_the_limit_and_is_named_by_its_steps() -> None:
    plan = flow(a=looping(1, *goes(next="b")), b=step(*goes(next="a")))
    assert bounds(plan).executions.most is None
    found = bounds(plan, 7)
    assert (found.executions.most, found.cycles) == (7, (("a", "b"),))
    assert {*found.longest} == {"a", "b"}


def test_a_repeat_that_leads_elsewhere_and_one_of_a_step_that_is_tried_again_are_bounded_by_the_limit() -> None:
    elsewhere = flow(a=looping(1, Edge("next", DONE), back="b"), b=step(*goes(next="a")))
    assert bounds(elsewhere).executions.most is None
    guarded = replace(looping(1, Edge("closing", DONE)), validation=Validation((Condition("v"),)))
    assert bounds(flow(a=guarded)).executions.most is None
    assert closure(Validation((Condition("v"),))).validation == guarded.validation


def test_too_many_repeats_are_not_counted_one_by_one() -> None:
    assert bounds(flow(a=looping(2_001, Edge("next", DONE))), 5).executions.most == 5


def test_conditions_before_the_model_is_asked_take_time() -> None:
    with_them = bound(repeating(), Assumed(1_000, 10)).entries[0].milliseconds.most
    plan = repeating()
    nodes = {name: replace(node, validation=None) for name, node in plan.nodes.items()}
    without = bound(replace(plan, nodes=nodes), Assumed(1_000, 10)).entries[0].milliseconds.most
    assert with_them is not None
    assert without is not None
    assert with_them > without
