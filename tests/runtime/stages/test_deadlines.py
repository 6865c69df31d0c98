"""Deadlines: what passes with them, what they void, and what ends them."""

from __future__ import annotations

import json

from runtime.stages.talks import FAILED, Run, calls, pipeline, stage, submit

from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.document import Limits, Plan
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import Among
from stagec.ir.plan.node import Edge, Fork, Go, Node, Outcome
from stagec.runtime.machine.exchange import Call, Replanned, Turn, Wait, read_key

LATE = (Among(("reason",), ("deadline-exceeded",)),)
FAILS = Edge("fail", FAILED)


def timed(node: Node, deadline: int = 60_000) -> Node:
    return replace(node, act=replace(node.act, deadline=deadline))


def waiting(wait: int = 0) -> Plan:
    """Return a pipeline whose first stage leads to another one when its deadline passes."""
    late = Edge("fail", Go("b"), LATE, wait)
    return pipeline(a=timed(stage(edges=(late, *stage().edges))), b=stage())


def limited(plan: Plan, **limits: int) -> Plan:
    return replace(plan, limits=Limits(20, Outcome.FAILED, **limits))


def names(run: Run) -> list[str]:
    return [each.name for each in run.step.trace]


def test_a_deadline_runs_beside_the_work_and_takes_the_edge_of_its_reason() -> None:
    run = Run(waiting())
    assert run.step.effects[0] == Wait("r/a#1/0.0", 60_000)
    assert [type(each) for each in run.step.effects] == [Wait, Turn]
    run.answer({}, "a#1/0.0")
    assert run.step.void == ("r/a#1/1.0",)
    assert [(each.node, each.outcome, each.to) for each in run.step.moves] == [("a", "fail", ("b",))]
    assert names(run)[:2] == ["DeadlineExceeded", "StageExited"]
    assert run.step.last == {"verdict": "fail", "reason": "deadline-exceeded", "capHit": False, "attemptCount": 1}
    assert run.turn.key == "r/b#1/1.0"


def test_a_late_answer_changes_nothing() -> None:
    run = Run(waiting())
    run.answer({}, "a#1/0.0")
    before = run.step.state
    run.answer(submit(), "a#1/1.0")
    assert run.step.state == before


def test_a_result_ends_the_deadline_also_before_an_edge_that_waits() -> None:
    run = Run(pipeline(a=timed(stage(edges=(Edge("ok", Go("b"), (), 7), FAILS))), b=stage()))
    run.answer(submit(), "a#1/1.0")
    assert run.step.void == ("r/a#1/0.0",)
    assert list(run.step.state.pending.values()) == [Wait("r/a#1/1.1", 7)]
    run = Run(waiting())
    run.answer(submit(), "a#1/1.0")
    assert run.step.void == ("r/a#1/0.0",)


def test_the_edge_of_a_deadline_can_wait() -> None:
    run = Run(waiting(wait=500))
    run.answer({}, "a#1/0.0")
    assert run.step.void == ("r/a#1/1.0",)
    assert list(run.step.state.pending.values()) == [Wait("r/a#1/1.1", 500)]
    run.answer({})
    assert run.turn.key == "r/b#1/1.0"


def test_a_deadline_without_an_edge_ends_the_run_and_says_why() -> None:
    run = Run(pipeline(a=timed(stage(), 90_000)))
    run.answer({}, "a#1/0.0")
    assert run.end == (Outcome.FAILED, "a: deadline-exceeded")
    assert run.step.state.reason == "a, attempt 1: the deadline has passed: 1 min 30 s"


def test_calls_under_way_are_cancelled() -> None:
    run = Run(pipeline(a=timed(stage("look"))))
    run.answer(calls(("1", "look", {})), "a#1/1.0")
    assert isinstance(run.step.effects[0], Call)
    run.answer({}, "a#1/0.0")
    assert names(run)[:3] == ["DeadlineExceeded", "ToolInvocationCancelled", "StageExited"]
    assert run.end[0] is Outcome.FAILED


def test_each_execution_has_its_time_and_a_sibling_goes_on() -> None:
    both = {name: timed(stage(edges=(Edge("fail", Go("m"), LATE), *stage().edges))) for name in ("b", "c")}
    plan = pipeline(a=stage(edges=(Edge("ok", Fork(("b", "c"), "j")), FAILS)), **both, j=stage(), m=stage())
    run = Run(limited(plan, parallel=4))
    run.answer(submit())
    assert [each.key for each in run.step.effects if isinstance(each, Wait)] == ["r/b#1/0.0", "r/c#1/0.0"]
    run.answer({}, "b#1/0.0")
    assert {read_key(each).node for each in run.step.state.pending} == {"c", "m"}


def test_the_deadline_of_a_run_ends_everything() -> None:
    run = Run(limited(waiting(), deadline=3_600_000))
    assert run.step.effects[0] == Wait("r/#0/0.0", 3_600_000)
    run.answer({}, "#0/0.0")
    assert set(run.step.void) == {"r/a#1/0.0", "r/a#1/1.0"}
    assert run.end == (Outcome.FAILED, "a: run-deadline-exceeded")
    assert run.step.state.reason == "a, attempt 1: the deadline of the run has passed: 1 h"
    assert not run.step.state.pending


def test_a_run_that_ends_has_no_deadline_any_more() -> None:
    run = Run(limited(pipeline(a=stage()), deadline=3_600_000))
    run.answer(submit(), "a#1/1.0")
    assert run.step.void == ("r/#0/0.0",)
    assert run.end[0] is Outcome.DONE


def test_deadlines_that_run_outlast_a_change_of_the_plan() -> None:
    run = Run(limited(waiting(), deadline=3_600_000))
    other = waiting()
    other = replace(other, nodes={**other.nodes, "a": timed(other.nodes["a"], 5), "b": timed(other.nodes["b"], 5)})
    data = dump(replace(other, facts=facts(other)))
    run.event(Replanned(json.loads(data)["digest"], data.decode()))
    assert [each for each in run.step.state.pending.values() if isinstance(each, Wait)] == [
        Wait("r/#0/0.0", 3_600_000),
        Wait("r/a#1/0.0", 60_000),
    ]
