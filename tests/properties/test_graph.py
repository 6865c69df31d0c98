"""Both implementations of the questions about flows agree, on any flow."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest
from campaigns import choose
from graph.oracle import NetworkxGraph
from hypothesis import given, settings
from hypothesis import strategies as st

from stagec.core.place import Place
from stagec.ir.flow import Entry, Flow, FlowNode, WrittenEdge
from stagec.ir.graph import Graph, build
from stagec.ir.plan.node import Chain, Edge, Fork, Go, Named, Outcome, Stop, Target, list_targets

AT = Place("flow.json")
CHUNKS, CHUNK = 40, choose(125, whole=2_500)
DONE, FAILED = Stop(Outcome.DONE), Stop(Outcome.FAILED)


def flow(targets: list[list[Target]], entries: list[str]) -> Flow:
    """Return a flow of nodes `a`, `b`, … with these targets; entries are called what they name."""
    nodes = {}
    for at, own in enumerate(targets):
        name = chr(97 + at)
        edges = tuple(WrittenEdge(name, Edge(str(number), target), AT) for number, target in enumerate(own))
        nodes[name] = FlowNode(name, AT, edges=edges)
    return Flow("flow", AT, {name: Entry(name, AT) for name in entries}, nodes)


def pick(names: Iterable[str]) -> Named:
    return Named({name.upper(): name for name in names})


def random_flow(random: Random) -> Flow:
    """Return a small flow with anything in it: scopes, joins, loops, islands, broken edges and entries."""
    count, wild = random.randint(1, 5), random.random() < 0.5
    names = "abcde"[:count] + ("!" if random.random() < 0.08 else "")
    picks = [pick(random.sample(names, random.randint(1, len(names)))) for _ in range(2)]
    targets = [
        [
            random.choice(picks) if random.random() < 0.15 else random_target(random, names, wild=wild)
            for _ in range(random.choice((0, 1, 1, 2, 2, 3)))
        ]
        for _ in range(count)
    ]
    return flow(targets, [random.choice(names) for _ in range(random.choice((0, 1, 1, 1, 1, 2)))])


def random_target(random: Random, names: str, *, wild: bool) -> Target:
    kind = random.random()
    if kind < 0.25:
        return DONE if kind < 0.17 else FAILED
    if not wild or kind < 0.7:
        return Go(random.choice(names))
    join = random.choice(names) if random.random() < 0.6 else None
    nodes = tuple(random.choices(names, k=random.choice((0, 1, 2, 2, 2, 3))))
    return Fork(nodes, join) if kind < 0.85 else Chain(nodes)


@st.composite
def flows(draw: st.DrawFn) -> Flow:
    """Flows that shrink: fewer nodes, fewer edges, plainer targets."""
    count = draw(st.integers(1, 7))
    name = st.sampled_from("abcdefg"[:count])
    some = st.lists(name, max_size=3).map(tuple)
    scope = st.builds(Fork, some, st.none() | name) | st.builds(Chain, some)
    picks = draw(st.lists(st.lists(name, unique=True).map(pick), min_size=1, max_size=2))
    target = st.sampled_from([DONE, FAILED, *picks]) | st.builds(Go, name) | scope | st.just(Go("!"))
    targets = draw(st.lists(st.lists(target, max_size=4), min_size=count, max_size=count))
    return flow(targets, draw(st.lists(name, max_size=3, unique=True)))


def answers(graph: Graph | NetworkxGraph) -> dict[str, object]:
    """Return the answers that are unique."""
    return {
        "exact": graph.exact,
        "dangling": graph.dangling,
        "startable": graph.startable(),
        "unstartable": graph.unstartable(),
        "completing": graph.completing(),
        "stuck": graph.find_stuck(),
        "traps": graph.traps(),
        "components": set(graph.components()),
        "cycles": graph.cycles(),
        "shortest": {entry: graph.shortest_run(entry) for entry in graph.flow.entries},
    }


def misordered(graph: Graph | NetworkxGraph) -> list[tuple[str, str]]:
    """Return what comes before a component it leads to."""
    rank = {node: at for at, nodes in enumerate(graph.components()) for node in nodes}
    known = [edge for node in graph.flow.nodes.values() for edge in node.edges if edge not in graph.dangling]
    return [(edge.source, each) for edge in known for each in named(edge) if rank[each] > rank[edge.source]]


def named(edge: WrittenEdge) -> tuple[str, ...]:
    return () if isinstance(edge.target, Named) else list_targets(edge.target)


@pytest.mark.parametrize("random", list(map(Random, range(CHUNKS))), ids=range(CHUNKS))
def test_both_implementations_agree_on_random_flows(random: Random) -> None:
    for _ in range(CHUNK):
        given_flow = random_flow(random)
        own, other = build(given_flow), NetworkxGraph(given_flow)
        assert answers(own) == answers(other), given_flow
        assert misordered(own) == misordered(other) == [], given_flow


@given(flows())
@settings(max_examples=choose(50, whole=300), deadline=None)
def test_both_implementations_agree_on_any_flow(given_flow: Flow) -> None:
    own, other = build(given_flow), NetworkxGraph(given_flow)
    assert answers(own) == answers(other)
    assert misordered(own) == misordered(other) == []


@given(flows())
@settings(max_examples=choose(50, whole=200), deadline=None)
def test_answers_fit_each_other(given_flow: Flow) -> None:
    graph = build(given_flow)
    trapped = [node for trap in graph.traps() for node in trap.nodes]
    assert graph.startable() | set(graph.unstartable()) == given_flow.nodes.keys()
    assert len(trapped) == len(set(trapped))
    assert graph.completing().isdisjoint(trapped)
    for entry, written in given_flow.entries.items():
        least, most = graph.shortest_run(entry), NetworkxGraph(given_flow).longest_run(entry)
        assert (least is not None) == (written.node in graph.completing())
        assert least is None or most is None or least <= most
