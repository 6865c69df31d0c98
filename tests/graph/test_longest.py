"""The longest runs of plans made by hand; no run is slower than the slowest, on any number of places."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush
from itertools import count
from random import Random

import pytest
from campaigns import choose
from handmade import stages, steps
from hypothesis import given, settings
from hypothesis import strategies as st
from plan.random_plans import flows

from stagec.core.value import replace
from stagec.ir.graph.figures import Joint
from stagec.ir.graph.longest import PlanWalks
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Command
from stagec.ir.plan.document import Limits, Names
from stagec.ir.plan.gate import ExitGate
from stagec.ir.plan.node import Chain, Edge, Fork, Go, Node, Outcome, Pick, Stop, Target


def draw_weights(plan: Plan, seed: int) -> Mapping[str, int]:
    chance = Random(seed)  # noqa: S311
    return {name: chance.randrange(10) for name in plan.nodes}


def without_failures(plan: Plan) -> Plan:
    """Return a plan in which every branch ends as done."""

    def turn(edge: Edge) -> Edge:
        return replace(edge, target=Stop(Outcome.DONE)) if isinstance(edge.target, Stop) else edge

    ends = (Edge("closing", Stop(Outcome.DONE)),)
    nodes = {name: replace(node, edges=(*map(turn, node.edges), *ends)) for name, node in plan.nodes.items()}
    return replace(plan, nodes=nodes)


class Schedule:
    """One run on some places by § 3.9 of the page, in which nothing fails; every choice is drawn."""

    def __init__(self, plan: Plan, times: Mapping[str, int], chance: Random) -> None:
        self.plan, self.times, self.chance = plan, times, chance
        self.now, self.executions, self.numbers = 0, 0, count()
        self.acting: list[tuple[int, int, str, Scope | None, bool]] = []
        self.waiting: list[tuple[str, Scope | None]] = []

    def run(self, entry: str) -> int:
        """Return when the run has ended."""
        self.start(entry, None)
        while self.acting:
            self.now, _, node, scope, is_head = heappop(self.acting)
            if is_head:  # which has not failed: its branch is over
                self.end(scope)
            else:
                self.follow(self.chance.choice(self.plan.nodes[node].edges).target, scope)
            while self.waiting and len(self.acting) < self.plan.limits.parallel:
                self.start(*self.waiting.pop(0), is_head=True)
        return self.now

    def start(self, node: str, scope: Scope | None, *, is_head: bool = False) -> None:
        if self.executions == self.plan.limits.executions:
            self.acting.clear()
            self.waiting.clear()
            return
        self.executions += 1
        heappush(self.acting, (self.now + self.times[node], next(self.numbers), node, scope, is_head))

    def follow(self, target: Target, scope: Scope | None) -> None:
        match target:
            case Stop():
                self.end(scope)
            case Fork(nodes=(_,)):  # which ends the run
                self.acting.clear()
                self.waiting.clear()
            case Fork(nodes=nodes, join=join):
                inner = Scope(len(nodes), join, [], scope)
                self.waiting.extend((each, inner) for each in nodes)
            case Chain(nodes=nodes):
                self.start(nodes[0], Scope(1, None, [*nodes[1:]], scope))
            case _:
                self.start(self.chance.choice([*ahead(self.plan, target)]), scope)

    def end(self, scope: Scope | None) -> None:
        while scope is not None:
            scope.left -= 1
            if scope.left:
                return
            if scope.later:
                scope.left = 1
                self.start(scope.later.pop(0), scope)
                return
            if scope.join is not None:
                self.start(scope.join, scope.outer)
                return
            scope = scope.outer


class Scope:
    """What has to end before something around it goes on."""

    def __init__(self, left: int, join: str | None, later: list[str], outer: Scope | None) -> None:
        self.left, self.join, self.later, self.outer = left, join, later, outer


def ahead(plan: Plan, target: Target) -> list[str]:
    if isinstance(target, Pick):
        return [*plan.choices[target.choices].values()]
    if isinstance(target, Go):
        return [target.node, *([] if target.otherwise is None else [target.otherwise])]
    return [*getattr(target, "nodes", {}).values()]


@settings(max_examples=choose(12, whole=300), deadline=None)
@given(flows().map(without_failures), st.integers(0, 9), st.integers(1, 3))
def test_no_schedule_is_slower_than_the_slowest(plan: Plan, seed: int, places: int) -> None:
    plan, times = replace(plan, limits=replace(plan.limits, parallel=places)), draw_weights(plan, seed)
    for name in plan.entries.values():
        found = PlanWalks(plan, name, back=False).find_slowest(times, places)
        if found is not None:
            chances = (Random(each) for each in range(20))  # noqa: S311
            assert all(Schedule(plan, times, chance).run(name) <= found.total for chance in chances)


def node(*edges: Edge) -> Node:
    return Node(Command(((),), 1), ExitGate(), edges)


def plan_of(nodes: Mapping[str, Node], limit: int | None = None) -> Plan:
    return Plan("flow", Names("step", "intent"), {"": next(iter(nodes))}, nodes, {}, Limits(limit))


DONE = Edge("closing", Stop(Outcome.DONE))
FORK = plan_of({"a": node(Edge("closing", Fork(("b", "c"), "d"))), "b": node(DONE), "c": node(DONE), "d": node(DONE)})


def test_what_runs_together_is_added_up_or_lasts_as_long_as_the_longest() -> None:
    runs, weights = PlanWalks(FORK, "a", back=False), {"a": 1, "b": 5, "c": 3, "d": 1}
    longest, slowest, alone = (
        runs.find_longest(weights),
        runs.find_slowest(weights, places=2),
        runs.find_slowest(weights, places=1),
    )
    assert longest is not None
    assert slowest is not None
    assert alone is not None
    assert (longest.total, slowest.total, alone.total) == (10, 7, 10)
    assert longest.way == ("a", Joint.OPEN, "b", Joint.NEXT, "c", Joint.CLOSE, "d")


def test_a_walk_that_may_repeat_takes_the_heaviest_cycle_as_often_as_the_limit_allows() -> None:
    nodes = {"a": node(Edge("closing", Go("b")), DONE), "b": node(Edge("closing", Go("a")), Edge("closing", Go("b")))}
    found = PlanWalks(plan_of(nodes, 4), "a", back=False).find_longest({"a": 3, "b": 2})
    assert found is not None
    assert (found.total, found.way) == (10, ("a", "b", "a", "b"))
    assert PlanWalks(plan_of(nodes), "a", back=False).find_longest({"a": 3, "b": 2}) is None


def test_a_limit_below_the_longest_way_counts() -> None:
    found = PlanWalks(replace(FORK, limits=Limits(2)), "a", back=False).find_longest(dict.fromkeys("abcd", 1))
    assert found is not None
    assert (found.total, found.way) == (2, ("a", "b"))


def test_a_branch_of_a_fork_ends_with_its_first_node_unless_that_fails() -> None:
    nodes = {**FORK.nodes, "b": node(Edge("closing", Go("e")), Edge("fail", Go("f"))), "e": node(DONE), "f": node(DONE)}
    found = PlanWalks(plan_of(nodes), "a", back=False).find_longest(dict.fromkeys(nodes, 1))
    assert found is not None
    assert found.way == ("a", Joint.OPEN, "b", "f", Joint.NEXT, "c", Joint.CLOSE, "d")


def test_forks_inside_forks_are_counted_without_being_walked_through() -> None:
    nodes = {f"n{at}": node(Edge("fail", Fork((f"n{at + 1}", f"m{at}")))) for at in range(100)}
    nodes |= {f"m{at}": node(Edge("fail", Go(f"n{at + 1}"))) for at in range(100)} | {"n100": node(DONE)}
    found = PlanWalks(plan_of(nodes), "n0", back=False).find_longest(dict.fromkeys(nodes, 1))
    assert found is not None
    assert found.total == 10**15
    assert len(found.way) == 1_000


@pytest.mark.parametrize("plan", [stages(), steps()], ids=["stages", "steps"])
def test_runs_know_the_nodes_that_they_may_come_to(plan: Plan) -> None:
    for name in plan.entries.values():
        assert name in PlanWalks(plan, name, back=True).nodes
