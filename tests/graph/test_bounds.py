"""The bounds of plans: executions, turns and time from each entry, with and without retries, or that there is none."""

from __future__ import annotations

from campaigns import choose
from handmade import stages, steps
from hypothesis import given, settings
from plan.random_plans import flows

from stagec.core.value import replace
from stagec.ir.graph.bounds import Repetition, bound
from stagec.ir.graph.figures import EntryBounds, Unlimited, UpperBound
from stagec.ir.graph.usage import Assumed
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Command, Prompt
from stagec.ir.plan.document import Limits, Names
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import Condition, ExitGate, Validation
from stagec.ir.plan.node import Edge, Fork, Go, Node, Outcome, Stop

DONE = Edge("closing", Stop(Outcome.DONE))


def plan_of(**nodes: Node) -> Plan:
    return Plan("flow", Names("step", "intent"), {"": next(iter(nodes))}, nodes, {}, Limits())


def only(plan: Plan, assumed: Assumed = Assumed()) -> EntryBounds:  # noqa: B008
    (entry,) = bound(plan, assumed).entries
    return entry


@settings(max_examples=choose(25, whole=400), deadline=None)
@given(flows())
def test_bounds_are_no_larger_than_the_facts_of_a_plan(plan: Plan) -> None:
    proved = facts(plan)
    for entry in bound(plan, Assumed()).entries:
        for extent, most in ((entry.executions, proved.executions), (entry.turns, proved.turns)):
            assert extent.most is None or (extent.first is not None and extent.first <= extent.most <= most)
        assert (entry.executions.most is None) == bool(entry.cycles and plan.limits.executions is None)


def test_each_entry_has_its_own_bounds() -> None:
    found = bound(steps(), Assumed())
    assert [(each.entry, each.node) for each in found.entries] == [
        ("", "initial.issue"),
        ("poll:state", "verification.issue"),
    ]
    assert found.is_bounded


def test_a_validation_that_goes_back_repeats_what_was_before_it() -> None:
    validation = Validation((Condition("clean"), Condition("typed")), attempts=3)
    plan = plan_of(
        work=Node(Prompt(), ExitGate(), (Edge("closing", Go("end")),)),
        end=Node(Prompt(), ExitGate(), (DONE,), validation=validation),
    )
    entry = only(replace(plan, limits=Limits(6)), Assumed(None, 10))
    assert entry.executions == UpperBound(2, 6)
    assert entry.turns == UpperBound(2, 12)
    assert entry.milliseconds == UpperBound(20, 60)
    assert entry.longest == ("work", "end", "work", "end", "work", "end")
    assert entry.is_cut


def test_without_a_limit_validations_that_go_back_bound_the_run_by_their_failures() -> None:
    plan = plan_of(
        work=Node(Prompt(), ExitGate(), (Edge("closing", Go("end")),)),
        end=Node(Prompt(), ExitGate(), (DONE,), validation=Validation((Condition("clean"),), attempts=3)),
    )
    entry = only(plan)
    assert entry.executions == UpperBound(2, 6)
    assert not entry.is_cut
    assert only(
        replace(plan, nodes={**plan.nodes, "end": Node(Prompt(), ExitGate(), (Edge("closing", Go("work")),))})
    ).executions == UpperBound(None, None)


def test_a_cycle_without_a_limit_has_no_bound_and_is_named() -> None:
    plan = plan_of(a=Node(Prompt(), ExitGate(), (Edge("repeat", Go("b")),)), b=Node(Prompt(), ExitGate(), (DONE,)))
    endless = replace(plan, nodes={**plan.nodes, "b": Node(Prompt(), ExitGate(), (DONE, Edge("repeat", Go("a"))))})
    found = bound(endless, Assumed())
    assert not found.is_bounded
    assert found.entries[0].cycles == (("a", "b"),)
    assert found.entries[0].turns == found.entries[0].time == UpperBound(None, None)
    assert bound(plan, Assumed()).is_bounded


def test_time_is_known_when_everything_has_a_limit() -> None:
    fork = Edge("closing", Fork(("b", "c"), "d"))
    plan = plan_of(
        a=Node(Command(((),), 100), ExitGate(), (fork,)),
        b=Node(Command(((),), 50), ExitGate(), (DONE,)),
        c=Node(Command(((),), 30), ExitGate(), (DONE,)),
        d=Node(Prompt(), ExitGate(), (DONE,)),
    )
    narrow, wide = only(plan), only(replace(plan, limits=Limits(parallel=2)))
    assert (narrow.milliseconds, wide.milliseconds) == (UpperBound(180, 180), UpperBound(150, 150))
    assert wide.unlimited == (Unlimited("model", ("d",)),)
    assert wide.time == UpperBound(None, None)
    assert only(replace(plan, limits=Limits(parallel=2)), Assumed(1000)).time == UpperBound(1150, 2150)


def test_what_may_be_done_again_is_listed() -> None:
    found = {each.node: each for each in bound(stages(), Assumed()).repetitions}
    assert found == {"plan": Repetition("plan", 3, 6000, 0, 0, None)}
    (closure,) = bound(steps(), Assumed()).repetitions
    assert closure == Repetition("closure.issue", 1, 0, 2, 3, "retry")


def test_waits_before_edges_are_part_of_the_time_of_runs_that_take_them() -> None:
    quick = (Edge("closing", Go("end"), (), 5), Edge("repeat", Go("slow"), (), 700))
    work = Node(Command((), milliseconds=10), ExitGate(), quick)
    end = Node(Command((), milliseconds=10_000), ExitGate(), (DONE, Edge("repeat", Stop(Outcome.FAILED))))
    slow = Node(Command((), milliseconds=100), ExitGate(), (DONE, Edge("repeat", Stop(Outcome.FAILED))))
    assert only(plan_of(work=work, end=end, slow=slow)).milliseconds == UpperBound(10_015, 10_015)
    late = replace(work, edges=(quick[0], replace(quick[1], wait=700_000)))
    assert only(plan_of(work=late, end=end, slow=slow)).milliseconds == UpperBound(700_110, 700_110)


def test_a_run_that_repeats_waits_as_often_as_it_may_repeat() -> None:
    again = Edge("repeat", Go("work"), (), 1_000)
    work = Node(Command((), milliseconds=10), ExitGate(), (DONE, again))
    entry = only(replace(plan_of(work=work), limits=Limits(3)))
    assert entry.milliseconds == UpperBound(3_030, 3_030)
    assert entry.executions == UpperBound(3, 3)


def test_branches_wait_at_the_same_time() -> None:
    wait = Edge("fail", Go("mend"), (), 9_000)
    ends = (Edge("closing", Stop(Outcome.DONE)), Edge("repeat", Stop(Outcome.FAILED)))
    node = Node(Command((), milliseconds=10), ExitGate(), (*ends, wait))
    plan = plan_of(
        work=replace(node, edges=(Edge("closing", Fork(("one", "two"))), ends[1])),
        one=node,
        two=node,
        mend=replace(node, edges=ends),
    )
    assert only(replace(plan, limits=Limits(parallel=2))).milliseconds.most == 10 + 10 + 9_000 + 10
    one_place = only(plan).milliseconds.most
    assert one_place is not None
    assert one_place >= 10 + 10 + 9_000 + 10
