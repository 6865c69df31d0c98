"""Edges that wait: when what follows begins, what a wait holds up, and what ends one."""

from __future__ import annotations

import json

import pytest
from runtime.stages.talks import FAILED, Run, pipeline, stage, submit

from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.document import Limits, Plan
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import Among
from stagec.ir.plan.node import Chain, Edge, ForEach, Fork, Go, Outcome, Stop, Target
from stagec.ir.plan.soundness import unsound
from stagec.runtime.machine.exchange import Replanned, Wait, read_key
from stagec.runtime.machine.program import program_of

BUSY = {"error": "busy"}
AGAIN = Edge("fail", Go("a"), (Among(("reason",), ("provider-failed",)),), 600_000)


def waiting(target: Target, parallel: int = 4, wait: int = 7) -> Plan:
    """Return a pipeline that comes to a target after a wait; the stages of it repeat what they fail at after one."""
    first = stage(edges=(Edge("ok", target, (), wait), FAILS))
    again = (Edge("fail", Go("m"), (), 9), *stage().edges)
    others = {name: stage(edges=again) for name in ("b", "c")}
    return replace(pipeline(a=first, **others, j=stage(), m=stage()), limits=Limits(20, Outcome.FAILED, parallel))


FAILS = Edge("fail", FAILED)


def nodes(run: Run) -> list[str]:
    """Return the nodes that have asked for something, in order."""
    return [read_key(key).node for key in run.step.state.pending]


def test_a_stage_begins_again_after_a_wait() -> None:
    run = Run(pipeline(a=stage(edges=(AGAIN, *stage().edges))))
    run.answer(BUSY)
    assert run.step.effects == (Wait("r/a#1/1.1", 600_000),)
    assert not run.step.moves
    assert run.told[-1].facts["milliseconds"] == 600_000
    run.answer({})
    assert [(each.node, each.outcome, each.to) for each in run.step.moves] == [("a", "fail", ("a",))]
    assert run.turn.key == "r/a#2/1.0"
    run.answer(submit())
    assert run.end == (Outcome.DONE, "completed")


@pytest.mark.parametrize(
    ("target", "begun"),
    [
        (Go("b"), ["b"]),
        (Chain(("b", "c")), ["b"]),
        (Fork(("b", "c"), "j"), ["b", "c"]),
        (ForEach(("parsed", "l"), 9, ("b",), "j"), ["b", "b"]),
    ],
)
def test_every_target_begins_after_its_wait(target: Target, begun: list[str]) -> None:
    run = Run(waiting(target))
    run.answer(submit(l=[1, 2]))
    assert run.step.effects == (Wait("r/a#1/1.1", 7),)
    run.answer({})
    assert nodes(run) == begun


def test_the_join_of_an_empty_list_begins_after_the_wait() -> None:
    run = Run(waiting(ForEach(("parsed", "l"), 9, ("b",), "j")))
    run.answer(submit(l=[]))
    run.answer({})
    assert nodes(run) == ["j"]


def test_a_wait_takes_no_place_and_what_follows_it_waits_for_one() -> None:
    run = Run(waiting(Fork(("b", "c"), "j"), parallel=1))
    run.answers(submit(), {})
    run.answer(BUSY, "b#1/1.0")
    assert nodes(run) == ["b", "c"]
    run.answer({}, "b#1/1.1")
    assert nodes(run) == ["c"]
    assert [each.node for each in run.step.state.waiting] == ["m"]
    run.answer(submit(), "c#1/1.0")
    assert nodes(run) == ["m"]
    run.answer(submit())
    assert nodes(run) == ["j"]


def test_a_branch_that_does_not_fail_ends_at_once() -> None:
    plan = waiting(Fork(("b", "c"), "j"))
    slow = replace(plan.nodes["b"], edges=(Edge("ok", Go("m"), (), 9), FAILS))
    run = Run(replace(plan, nodes={**plan.nodes, "b": slow}))
    run.answers(submit(), {})
    run.answer(submit(), "b#1/1.0")
    assert nodes(run) == ["c"]


def test_a_branch_that_fails_ends_the_wait_of_another_one() -> None:
    plan = waiting(Fork(("b", "c"), "j"))
    run = Run(replace(plan, nodes={**plan.nodes, "c": stage()}))
    run.answers(submit(), {})
    run.answer(BUSY, "b#1/1.0")
    run.answer(BUSY, "c#1/1.0")
    assert run.step.void == ("r/b#1/1.1",)
    assert run.end[0] is Outcome.FAILED


def test_a_cancelled_run_waits_no_more() -> None:
    run = Run(waiting(Go("b")))
    run.answer(submit())
    run.cancel()
    assert run.step.void == ("r/a#1/1.1",)
    assert run.end == (Outcome.FAILED, "a: cancelled")


def test_a_wait_that_has_begun_is_not_waited_for_again_with_another_plan() -> None:
    run = Run(waiting(Go("b")))
    run.answer(submit())
    plan = waiting(Go("c"), wait=99_000)
    data = dump(replace(plan, facts=facts(plan)))
    digest = json.loads(data)["digest"]
    run.event(Replanned(digest, data.decode()))
    assert [each.name for each in run.step.trace] == ["PlanChanged"]
    assert list(run.step.state.pending.values()) == [Wait("r/a#1/1.1", 7)]
    run.program = program_of(plan, digest)
    run.answer({})
    assert nodes(run) == ["c"]


def test_no_end_is_waited_for() -> None:
    plan = pipeline(a=stage(edges=(Edge("ok", Stop(Outcome.DONE), (), 5), FAILS)))
    assert [pointer for pointer, _ in unsound(plan)] == [("nodes", "a", "edges", 0, "wait")]
