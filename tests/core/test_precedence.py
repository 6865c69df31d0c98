"""Orders, chains, gaps, followers and concurrency agree with what is found by trying everything on small graphs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

import networkx as nx
import pytest
from campaigns import choose
from hypothesis import given, settings
from hypothesis import strategies as st

from stagec.core import precedence
from stagec.core.precedence import LongestChain, Precedence, order_names
from stagec.ir.graph.schedule_bounds import EXACT, measure_width

Needs = list[list[int]]


@st.composite
def needs(draw: st.DrawFn, most: int = 7) -> Needs:
    """Make a graph without cycles, whose numbers say nothing of its order."""
    count = draw(st.integers(0, most))
    names = draw(st.permutations(range(count)))
    made: Needs = [[] for _ in range(count)]
    for later, name in enumerate(names):
        made[name] = [names[each] for each in range(later) if draw(st.booleans())]
    return made


def times_of(given: Needs, seed: int) -> list[int]:
    return [(7 * seed + 3 * node) % 5 for node in range(len(given))]


def before(given: Needs) -> list[set[int]]:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(given)))
    graph.add_edges_from((each, node) for node, needed in enumerate(given) for each in needed)
    return [nx.ancestors(graph, node) for node in range(len(given))]


def chains(given: Needs) -> list[tuple[int, ...]]:
    """Return every chain of nodes of which each needs the one before directly."""
    found, todo = list[tuple[int, ...]](), [(node,) for node in range(len(given))]
    while todo:
        way = todo.pop()
        found.append(way)
        todo += [(each, *way) for each in given[way[0]]]
    return found


def length(chain: Sequence[int], times: Sequence[int]) -> int:
    return sum(times[node] for node in chain)


@given(needs())
def test_the_order_has_each_node_after_all_that_it_needs(given: Needs) -> None:
    order = list(Precedence(given).order)
    assert sorted(order) == list(range(len(given)))
    assert all(order.index(each) < order.index(node) for node in order for each in given[node])


@pytest.mark.parametrize("given", [[[0]], [[1], [0]], [[], [0, 3], [1], [2]]])
def test_nodes_that_wait_for_each_other_have_no_order(given: Needs) -> None:
    made = Precedence(given)
    assert (list(made.order), made.find_longest([1] * len(given))) == ([], LongestChain((), 0))


@settings(max_examples=choose(60, whole=300), deadline=None)
@given(needs(6), st.integers(0, 9))
def test_the_longest_chain_is_the_longest_of_all(given: Needs, seed: int) -> None:
    times = times_of(given, seed)
    found = Precedence(given).find_longest(times)
    assert found.length == length(found.nodes, times) == max((length(each, times) for each in chains(given)), default=0)
    assert found.nodes in chains(given) or not given


@settings(max_examples=choose(60, whole=300), deadline=None)
@given(needs(6), st.integers(0, 9), st.lists(st.booleans(), min_size=6, max_size=6))
def test_the_gap_is_the_longest_chain_in_which_nothing_is_kept_but_the_last(
    given: Needs, seed: int, kept: list[bool]
) -> None:
    times = times_of(given, seed)
    lost = [each for each in chains(given) if not any(kept[node] for node in each[:-1])]
    found = Precedence(given).find_gap(times, kept)
    assert found.length == length(found.nodes, times) == max((length(each, times) for each in lost), default=0)


@settings(max_examples=choose(60, whole=300), deadline=None)
@given(needs(6), st.integers(0, 9))
def test_tails_and_followers_are_those_of_all_chains(given: Needs, seed: int) -> None:
    times, made, known = times_of(given, seed), Precedence(given), before(given)
    tails = [max(length(each, times) for each in chains(given) if each[0] == node) for node in range(len(given))]
    assert made.find_tails(times) == tails
    assert made.count_followers() == [sum(node in each for each in known) for node in range(len(given))]


@settings(max_examples=choose(40, whole=200), deadline=None)
@given(needs(5))
def test_two_nodes_are_concurrent_if_both_orders_of_them_are_allowed(given: Needs) -> None:
    count = len(given)
    allowed = [
        way
        for way in permutations(range(count))
        if all(way.index(each) < way.index(node) for node in way for each in given[node])
    ]
    pairs = [*combinations(range(count), 2)]
    free = {pair for pair in pairs if len({way.index(pair[0]) < way.index(pair[1]) for way in allowed}) == len("ab")}
    assert {*Precedence(given).find_concurrent(pairs)} == free


def test_questions_are_answered_in_as_many_passes_as_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precedence, "_PRECEDENCE_AT_ONCE", 2)
    monkeypatch.setattr(precedence, "_ANCESTRY_AT_ONCE", 2)
    chain = Precedence([[each] if each >= 0 else [] for each in range(-1, 8)])
    assert chain.count_followers() == [8, 7, 6, 5, 4, 3, 2, 1, 0]
    assert not [*chain.find_concurrent(combinations(range(9), 2))]


def test_names_are_numbered_as_they_come() -> None:
    assert order_names({"b": ("a",), "a": ()}).needs == [[1], []]


@settings(max_examples=choose(60, whole=300), deadline=None)
@given(needs())
def test_the_width_is_the_largest_set_of_nodes_of_which_none_needs_another_one(given: Needs) -> None:
    known, count = before(given), len(given)
    free = [
        some
        for size in range(count + 1)
        for some in combinations(range(count), size)
        if not any(one in known[other] or other in known[one] for one, other in combinations(some, 2))
    ]
    width = measure_width(Precedence(given))
    assert width.is_exact
    assert width.nodes in free
    assert len(width.nodes) == max(map(len, free))


@pytest.mark.parametrize("count", [EXACT, EXACT + 1])
def test_above_a_size_the_width_is_that_of_the_widest_level(count: int) -> None:
    ladder = Precedence([[node - 2] if node > 1 else [] for node in range(count)])
    width = measure_width(ladder)
    assert (len(width.nodes), width.is_exact) == (2, count == EXACT)
    assert measure_width(Precedence([[] for _ in range(count)])).is_exact


def test_levels_are_free_of_needs() -> None:
    made = Precedence([[], [0], [0], [1, 2], []])
    assert sorted(map(sorted, made.list_levels())) == [[0, 4], [1, 2], [3]]
