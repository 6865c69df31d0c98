"""The facts of a plan hold of every run that its nodes and edges allow, and are no larger than they must be."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import networkx as nx
import pytest
from campaigns import choose
from handmade import stages, steps
from hypothesis import given, settings
from plan.random_plans import flows

from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Command, Converse, Prompt
from stagec.ir.plan.document import Limits
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import Validation
from stagec.ir.plan.node import Chain, Edge, Entry, Fork, Go, Named, Outcome, Pick, Schedule, Stop, Target

MOST = 10**15
MANY_RUNS = 3000


class Over(Exception):  # noqa: N818
    """The run has used up its executions."""


class Run:
    """One run by § 3.9 of the page: every choice that an answer or the world makes is looked up, and then the first."""

    def __init__(self, plan: Plan, choices: list[int]) -> None:
        self.plan = plan
        self.choices = choices
        self.widths: list[int] = []
        self.executions = 0

    def choose(self, count: int) -> int:
        at = len(self.widths)
        self.widths.append(count)
        return self.choices[at] if at < len(self.choices) else 0

    def branch(self, name: str) -> Outcome:
        """Execute a node and what follows until the branch has ended."""
        following: str | Outcome = name
        while not isinstance(following, Outcome):
            bound = self.plan.limits.executions
            if bound is not None and self.executions == bound:
                raise Over
            self.executions += 1
            self.enter(following)
            edges = self.plan.nodes[following].edges
            following = self.follow(edges[self.choose(len(edges))].target) if edges else Outcome.FAILED
        return following

    def enter(self, name: str) -> None:
        """Begin an execution of a node."""

    def follow(self, target: Target) -> str | Outcome:
        match target:
            case Go(node=node, otherwise=otherwise):
                return node if otherwise is None or self.choose(2) else otherwise
            case Pick() | Named():
                names = target.nodes if isinstance(target, Named) else self.plan.choices[target.choices]
                return [*names.values()][self.choose(len(names))]
            case Stop(outcome=outcome):
                return outcome
            case Chain(nodes=nodes):
                done = all(self.branch(each) is Outcome.DONE for each in nodes)
                return Outcome.DONE if done else Outcome.FAILED
            case Schedule(needs=needs):
                return self.schedule(needs)
            case Fork(nodes=nodes, join=join):
                ended = [self.branch(each) for each in nodes]
                return join or Outcome.DONE if {*ended} == {Outcome.DONE} else Outcome.FAILED

    def schedule(self, needs: Mapping[str, tuple[str, ...]]) -> Outcome:
        """Run the nodes whose needs have ended as done, in any order: which it is decides nothing."""
        done: set[str] = set()
        left = dict(needs)
        while ready := [name for name, needed in left.items() if done.issuperset(needed)]:
            for name in ready:
                del left[name]
                done |= {name} if self.branch(name) is Outcome.DONE else set()
        return Outcome.DONE if len(done) == len(needs) else Outcome.FAILED


def runs(plan: Plan, entry: Entry) -> tuple[int, bool]:
    """Return the most executions of all runs from an entry, and whether there were few enough to see all of them."""
    most, choices = 0, list[int]()
    for _ in range(MANY_RUNS):
        run = Run(plan, choices)
        with suppress(Over):
            run.branch(entry) if isinstance(entry, str) else run.schedule(entry.needs)
        most = max(most, run.executions)
        taken = [*choices, *([0] * len(run.widths))][: len(run.widths)]
        while taken and taken[-1] == run.widths[len(taken) - 1] - 1:
            taken.pop()
        if not taken:
            return most, True
        choices = [*taken[:-1], taken[-1] + 1]
    return most, False


@settings(max_examples=choose(12, whole=100), deadline=None)
@given(flows(scheduled=True))
def test_no_run_has_more_executions_than_are_proved(plan: Plan) -> None:
    proved = facts(plan).executions
    assert all(runs(plan, name)[0] <= proved for name in plan.entries.values())


def ended_as(plan: Plan, outcome: Outcome) -> Plan:
    """Return a plan in which every `stop` has one outcome."""
    return replace(
        plan,
        nodes={
            name: replace(
                node,
                edges=tuple(
                    Edge(each.on, Stop(outcome) if isinstance(each.target, Stop) else each.target)
                    for each in (*node.edges, Edge("closing", Stop(outcome)))
                ),
            )
            for name, node in plan.nodes.items()
        },
    )


@settings(max_examples=choose(12, whole=100), deadline=None)
@given(flows(scheduled=True).map(lambda plan: ended_as(plan, Outcome.DONE)))
def test_some_run_has_as_many_as_are_proved_where_nothing_fails_and_nothing_leads_back(plan: Plan) -> None:
    found = facts(plan)
    seen = [runs(plan, name) for name in plan.entries.values()]
    if not found.cycles and all(whole for _, whole in seen):
        assert found.executions == max((most for most, _ in seen), default=0)


def graph(plan: Plan) -> nx.DiGraph:
    made = nx.DiGraph()
    made.add_nodes_from(plan.nodes)
    for name, node in plan.nodes.items():
        for edge in node.edges:
            if isinstance(edge.target, Pick):
                made.add_edges_from((name, each) for each in plan.choices[edge.target.choices].values())
            for member in ("node", "otherwise", "join", "nodes", "needs"):
                held = getattr(edge.target, member, None) or ()
                held = list(held) if member == "needs" else held
                targets = [held] if isinstance(held, str) else held.values() if isinstance(held, dict) else held
                made.add_edges_from((name, each) for each in targets)
    return made


@settings(max_examples=choose(12, whole=100), deadline=None)
@given(flows(scheduled=True))
def test_cycles_are_the_components_that_lead_back_into_themselves(plan: Plan) -> None:
    made = graph(plan)
    found = nx.strongly_connected_components(made)
    assert facts(plan).cycles == tuple(
        sorted(tuple(sorted(each)) for each in found if len(each) > 1 or made.has_edge(*each, *each))
    )


@settings(max_examples=choose(12, whole=100), deadline=None)
@given(flows(scheduled=True))
def test_the_ends_are_the_nodes_with_an_edge_to_one(plan: Plan) -> None:
    targets = {name: [edge.target for edge in node.edges] for name, node in plan.nodes.items()}
    assert facts(plan).done == tuple(sorted(name for name in targets if Stop(Outcome.DONE) in targets[name]))
    assert facts(plan).failed == tuple(sorted(name for name in targets if Stop(Outcome.FAILED) in targets[name]))
    stopped = Stop(Outcome.INTERRUPTED)
    assert facts(plan).interrupted == tuple(sorted(name for name in targets if stopped in targets[name]))


@settings(max_examples=choose(12, whole=100), deadline=None)
@given(flows(scheduled=True))
def test_turns_are_the_executions_times_the_most_of_one(plan: Plan) -> None:
    found = facts(plan)
    turns = [0]
    for node in plan.nodes.values():
        if isinstance(node.act, Converse):
            turns.append(node.act.turns * (node.retry.attempts if node.retry is not None else 1))
        elif isinstance(node.act, Prompt):
            turns.append(2)
    assert found.turns == min(MOST, found.executions * max(turns))


@settings(max_examples=choose(12, whole=100), deadline=None)
@given(flows(scheduled=True))
def test_the_order_of_nodes_does_not_matter(plan: Plan) -> None:
    assert facts(replace(plan, nodes=dict(reversed(list(plan.nodes.items()))))) == facts(plan)


def chained(*targets: Target) -> Plan:
    """Return a plan whose nodes, `n0` and so on, have one edge each."""
    plan = stages()
    node = replace(plan.nodes["lint"], act=Command(((),), 1), retry=None)
    nodes = {f"n{index}": replace(node, edges=(Edge("ok", each),)) for index, each in enumerate(targets)}
    return replace(plan, nodes=nodes, entries={"": "n0"}, limits=Limits())


def test_forks_inside_forks_are_counted_each_time_and_never_above_the_most() -> None:
    twice = [Chain((f"n{index + 1}", f"n{index + 1}")) for index in range(60)]
    assert facts(chained(*twice[:3], Stop(Outcome.DONE))).executions == 15
    assert facts(chained(*twice, Stop(Outcome.DONE))).executions == MOST


def test_a_failed_validation_may_lead_back_without_an_edge() -> None:
    plan = chained(Go("n1"), Stop(Outcome.DONE))
    for action, executions in (("retry", MOST), ("abort", 2), ("skip", 2)):
        node = replace(plan.nodes["n1"], validation=Validation((), action))
        assert facts(replace(plan, nodes={**plan.nodes, "n1": node})).executions == executions


def test_a_plan_without_entries_has_no_runs() -> None:
    assert facts(replace(stages(), entries={})).executions == 0


@pytest.mark.parametrize(
    ("plan", "executions", "turns", "cycles"),
    [
        (steps(), 20, 40, (("closure.issue",), ("initial.issue",))),
        (stages(), 100, 3600, (("plan", "review"),)),
    ],
)
def test_the_plans_by_hand_have_the_facts_that_a_reader_finds(
    plan: Plan, executions: int, turns: int, cycles: tuple[tuple[str, ...], ...]
) -> None:
    found = facts(plan)
    assert (found.executions, found.turns, found.cycles) == (executions, turns, cycles)
