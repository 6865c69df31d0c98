"""Stages that run for each element of a list: their order, their context, failures, and the join."""

from __future__ import annotations

import json
from typing import Any

import pytest
from runtime.stages.talks import CONTENTS, END, FAILED, Run, pipeline, stage, submit

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan.act import Hole
from stagec.ir.plan.document import Limits, Plan
from stagec.ir.plan.facts import facts
from stagec.ir.plan.node import Edge, ForEach, Go, Node, Outcome
from stagec.ir.plan.soundness import unsound

ITEM = (Hole(("ctx", "index")), Hole(("ctx", "item")))
ALL = (Hole(("ctx", "upstream")),)
LIST = CONTENTS.add(json.dumps({"type": "object"}))


def listed(*nodes: str, join: str | None = "j", parallel: int = 4, path: Any = ("parsed", "l"), **members: Any) -> Plan:
    """Return a pipeline that runs nodes for each element of what `a` submits."""
    others: dict[str, Node] = members.pop("others", {})
    target = ForEach(path, members.pop("most", 9), nodes, join, **members)
    first = stage(edges=(Edge("ok", target), Edge("fail", FAILED)))
    first = replace(first, act=replace(first.act, schema=LIST))
    made = {name: stage(prompt=ITEM) for name in nodes} | ({} if join is None else {join: stage(prompt=ALL)})
    return replace(pipeline(a=first, **{**made, **others}), limits=Limits(50, Outcome.FAILED, parallel))


def opened(plan: Plan, *elements: Json, **inputs: Json) -> Run:
    """Return a run whose list has just been submitted."""
    run = Run(plan, **inputs)
    run.answer(submit(l=[*elements]))
    return run


def prompted(run: Run) -> list[str]:
    """Return the prompts of the requests that follow from the last event."""
    return [each.transcript[0].text for each in run.step.effects]


def test_each_element_has_its_number_and_itself_as_context() -> None:
    run = opened(listed("x"), "p", {"q": 1})
    assert prompted(run) == ["0p", '1{"q":1}']
    assert [each.key for each in run.step.effects] == ["r/x#1/1.0", "r/x#2/1.0"]


@pytest.mark.parametrize(("members", "begun"), [({"concurrency": 2}, 2), ({"parallel": 3}, 3), ({}, 4)])
def test_no_more_elements_are_under_way_than_may(members: dict[str, int], begun: int) -> None:
    run = opened(listed("x", **members), *range(6))
    assert len(run.step.state.active) == begun
    run.answer(submit(), "x#2/1.0")
    assert [*run.step.state.active][-1] == f"r/x#{begun + 1}"
    assert len(run.step.state.active) == begun


def test_the_join_sees_the_results_in_the_order_of_the_list_whatever_ended_first() -> None:
    run = opened(listed("x"), "p", "q", "s")
    for visit, number in ((3, 30), (1, 10), (2, 20)):
        run.answer(submit(n=number), f"x#{visit}/1.0")
    assert [each["parsed"]["n"] for each in json.loads(prompted(run)[0])] == [10, 20, 30]
    run.answer(submit())
    assert run.end == (Outcome.DONE, "completed")


def test_the_stages_of_an_element_run_one_after_the_other_without_waiting_for_others() -> None:
    run = opened(listed("x", "y", others={"y": stage(prompt=(*ITEM, *ALL))}), "p", "q")
    run.answer(submit(n=7), "x#2/1.0")
    (prompt,) = prompted(run)
    assert prompt.startswith("1q[{")
    assert '"n":7' in prompt
    run.answer(submit(n=8), "y#1/1.0")
    run.answer(submit(n=1), "x#1/1.0")
    run.answer(submit(n=9), "y#2/1.0")
    assert [each["parsed"]["n"] for each in json.loads(prompted(run)[0])] == [9, 8]


@pytest.mark.parametrize(("join", "names"), [("j", ["r/j#1"]), (None, [])])
def test_an_empty_list_leads_to_the_join(join: str | None, names: list[str]) -> None:
    run = opened(listed("x", join=join))
    assert [*run.step.state.active] == names
    if join is None:
        assert run.end == (Outcome.DONE, "completed")
    else:
        assert prompted(run) == ["[]"]


def test_a_list_may_be_an_input_of_the_run() -> None:
    run = opened(listed("x", path=("ctx", "task")), task=["p"])
    assert prompted(run) == ["0p"]


def test_an_element_that_fails_cancels_the_others() -> None:
    run = opened(listed("x"), "p", "q", "s")
    run.answer({"error": "down"}, "x#2/1.0")
    assert run.end[0] is Outcome.FAILED
    assert not run.step.state.active
    assert [each.facts["index"] for each in run.told if each.name == "ParallelSiblingFailure"] == [1]


def test_the_join_sees_elements_that_have_failed_where_they_are_collected() -> None:
    run = opened(listed("x", collect=True), "p", "q")
    run.answer({"error": "down"}, "x#1/1.0")
    run.answer(submit(n=2), "x#2/1.0")
    assert [each["verdict"] for each in json.loads(prompted(run)[0])] == ["fail", "ok"]


def test_the_last_result_of_a_recovery_is_the_result_of_its_element() -> None:
    mended = stage(prompt=ITEM, edges=(Edge("fail", Go("m")), *END))
    run = opened(listed("x", others={"x": mended, "m": stage(prompt=ITEM)}), "p", "q")
    run.answer(submit(n=1), "x#1/1.0")
    run.answer({"error": "down"}, "x#2/1.0")
    assert prompted(run) == ["1q"]
    run.answer(submit(n=5), "m#1/1.0")
    assert [each["parsed"]["n"] for each in json.loads(prompted(run)[0])] == [1, 5]


@pytest.mark.parametrize("given", [[*range(10)], "p", None])
def test_a_run_ends_where_a_plan_made_by_hand_leads_to_no_list_that_may_run(given: Json) -> None:
    run = Run(listed("x"))
    run.answer(submit(l=given))
    assert run.end == (Outcome.FAILED, "a: no-edge")


def test_an_input_of_the_name_of_the_element_is_hidden_inside_alone() -> None:
    plan = listed("x", others={"j": stage(prompt=(Hole(("ctx", "task")),))})
    run = opened(replace(plan, inputs={**plan.inputs, "item": plan.inputs["task"]}), "p", item="given", task="t")
    assert prompted(run) == ["0p"]


def test_the_longest_run_has_all_elements() -> None:
    assert facts(listed("x", "y", most=9)).executions == 1 + 9 * 2 + 1


def test_a_plan_with_a_node_twice_for_an_element_is_not_sound() -> None:
    assert unsound(listed("x", "x")) != []
    assert unsound(listed("x", join="x")) != []


def test_a_thousand_elements_cost_memory_by_the_element() -> None:
    plan = replace(listed("x", most=1000, concurrency=50, parallel=50), limits=Limits(2000, Outcome.FAILED, 50))
    run = opened(plan, *range(1000))
    for visit in range(1, 1001):
        run.answer(submit(n=visit), f"x#{visit}/1.0")
        assert len(run.step.state.active) + len(run.step.state.waiting) <= 50
    run.answer(submit())
    assert run.end == (Outcome.DONE, "completed")
