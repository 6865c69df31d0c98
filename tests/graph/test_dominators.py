"""Which nodes are on every way to another one, against a search that leaves the node out."""

from __future__ import annotations

from campaigns import choose
from hypothesis import given, settings
from hypothesis import strategies as st

from stagec.core.precedence import Neighbours
from stagec.ir.graph.graph import Dominators

SIZES = st.integers(1, 9)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Neighbours, list[int]]:
    count = draw(SIZES)
    node = st.integers(0, count - 1)
    leads = draw(st.lists(st.lists(node, max_size=3), min_size=count, max_size=count))
    return leads, draw(st.lists(node, max_size=2))


def reached(leads: Neighbours, roots: list[int], without: int | None = None) -> set[int]:
    """Return what the roots lead to in a graph that lacks one node."""
    found = [each for each in dict.fromkeys(roots) if each != without]
    for node in found:  # grows while it is walked
        found.extend(each for each in dict.fromkeys(leads[node]) if each != without and each not in found)
    return set(found)


@settings(max_examples=choose(50, whole=1_500))
@given(graphs())
def test_a_node_is_before_another_one_when_without_it_no_way_leads_there(graph: tuple[Neighbours, list[int]]) -> None:
    leads, roots = graph
    found, every = Dominators(leads, roots), reached(leads, roots)
    for node in range(len(leads)):
        assert found.is_reached(node) == (node in every)
        left = reached(leads, roots, node)
        before = {other for other in every if found.is_before(node, other)}
        assert before == ({*every} - left - {node} if node in every else set())


def test_a_long_chain_is_no_deep_recursion() -> None:
    count = 20_000
    found = Dominators([[each + 1, max(0, each - 7)] for each in range(count - 1)] + [[0]], [0])
    assert found.is_before(5, count - 1)
    assert not found.is_before(count - 1, 5)
