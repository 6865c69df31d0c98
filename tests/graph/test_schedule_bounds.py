"""No schedule takes longer than its bounds say, whatever ends when and on however many places."""

from __future__ import annotations

from heapq import heappop, heappush

import pytest
from campaigns import choose
from core.test_precedence import Needs, needs
from handmade import LIMITS, process, processes, scheduled, steps
from hypothesis import given, settings
from hypothesis import strategies as st

from stagec.core.value import replace
from stagec.ir.graph.bounds import bound
from stagec.ir.graph.figures import Joint, UpperBound
from stagec.ir.graph.longest import PlanWalks
from stagec.ir.graph.schedule_bounds import NodeFailure, NodeTimes, ScheduleWork
from stagec.ir.graph.usage import Assumed
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Command, ProcessLimits
from stagec.ir.plan.document import Limits, Names
from stagec.ir.plan.gate import ExitGate
from stagec.ir.plan.node import Edge, Node, Outcome, Schedule, Stop

DONE = Edge("closing", Stop(Outcome.DONE))


def simulate(given: Needs, times: list[int], places: int, fails: int | None) -> int:
    """Return when a schedule is over in which each node takes its time, and one may fail."""
    now, ended, begun = 0, set[int](), set[int]()
    acting: list[tuple[int, int]] = []
    while True:
        ready = [node for node in range(len(given)) if node not in begun and ended.issuperset(given[node])]
        for node in ready[: places - len(acting)]:
            begun.add(node)
            heappush(acting, (now + times[node], node))
        if not acting:
            return now
        now, node = heappop(acting)
        ended |= {node} if node != fails else set()


@settings(max_examples=choose(100, whole=1000), deadline=None)
@given(needs(), st.lists(st.integers(0, 9), min_size=7, max_size=7), st.integers(1, 4), st.integers(-1, 6))
def test_no_schedule_takes_longer_than_its_bound(given: Needs, times: list[int], places: int, fails: int) -> None:
    names = {f"n{node}": tuple(f"n{each}" for each in needed) for node, needed in enumerate(given)}
    known = {f"n{node}": NodeTimes(*[times[node]] * 3) for node in range(len(given))}
    found = ScheduleWork(names, known, places).bound(dict.fromkeys(names, process()))
    taken = simulate(given, times, places, fails if fails >= 0 else None)
    shorter = simulate(given, [each // 2 for each in times], places, None)
    assert max(taken, shorter) <= found.most <= sum(times)
    assert found.planned == found.first == found.most
    if places >= len(given):
        assert found.most == simulate(given, times, places, None)


def test_a_schedule_of_processes_has_bounds() -> None:
    (entry,) = bound(processes(), Assumed()).entries
    assert entry.node is None
    assert (entry.executions, entry.turns) == (UpperBound(5, 5), UpperBound(0, 0))
    assert entry.schedule is not None
    assert entry.schedule.critical == ("S01_load_data", "S02_train_model", "S04_evaluate_model")
    assert entry.schedule.planned == 3 * LIMITS.warn
    assert entry.time == UpperBound(3 * LIMITS.kill, 9 * LIMITS.kill)
    assert entry.schedule.attempts == 13
    assert entry.schedule.gap == ("S02_train_model", "S04_evaluate_model")
    assert entry.schedule.gap_milliseconds == 2 * LIMITS.kill
    assert entry.schedule.failures[0] == NodeFailure("S01_load_data", 5, 3 * LIMITS.kill)
    assert {each.node: each.nodes for each in entry.schedule.failures} == {
        "S01_load_data": 5,
        "S02_train_model": 2,
        "S03_explore_data": 3,
        "S04_evaluate_model": 1,
        "S05_send_report": 1,
    }


def test_what_has_no_place_waits() -> None:
    limits = ProcessLimits(10, 20, 30, 40)
    nodes = {f"S0{at}_load_data": process(limits=limits, retryable=False) for at in range(1, 7)}
    alone = dict.fromkeys(nodes, ())
    for places, most in ((1, 240), (2, 140), (6, 40), (9, 40)):
        (entry,) = bound(scheduled(nodes, alone, places), Assumed()).entries
        assert entry.time == UpperBound(most, most)


def test_other_nodes_of_a_schedule_are_added_up() -> None:
    nodes = {name: Node(Command(((),), 100), ExitGate(), (DONE,)) for name in ("a", "b")}
    plan = Plan("flow", Names("step", "intent"), {"": Schedule({"a": (), "b": ()})}, nodes, {}, Limits(parallel=2))
    (entry,) = bound(plan, Assumed()).entries
    assert (entry.executions, entry.time) == (UpperBound(2, 2), UpperBound(200, 200))
    endless = replace(plan, nodes={**nodes, "b": replace(nodes["b"], edges=steps().nodes["closure.issue"].edges)})
    endless = replace(endless, nodes={**endless.nodes, "closure.issue": steps().nodes["closure.issue"]})
    (entry,) = bound(endless, Assumed()).entries
    assert (entry.executions.most, entry.time, entry.schedule) == (None, UpperBound(None, None), None)


@pytest.mark.parametrize(("places", "most"), [(1, 330), (2, 280), (3, 230)])
def test_a_schedule_behind_a_node_counts_as_its_longest_chain(places: int, most: int) -> None:
    nodes = {name: Node(Command(((),), 100), ExitGate(), (DONE,)) for name in ("b", "c", "d")}
    lead = Edge("closing", Schedule({"b": (), "c": ("b",), "d": ()}))
    plan = Plan(
        "flow",
        Names("step", "intent"),
        {"": "a"},
        {"a": Node(Command(((),), 30), ExitGate(), (lead,)), **nodes},
        {},
        Limits(),
    )
    walks = PlanWalks(plan, "a", back=False)
    times = {"a": 30, "b": 100, "c": 100, "d": 100}
    longest, slowest = walks.find_longest(times), walks.find_slowest(times, places)
    assert longest is not None
    assert slowest is not None
    assert (longest.total, slowest.total) == (330, most)
    assert longest.way == ("a", Joint.OPEN, "b", Joint.NEXT, "c", Joint.NEXT, "d", Joint.CLOSE)
