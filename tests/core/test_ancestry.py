"""Specification of `core.ancestry`: held against a search for each pair."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stagec.core import precedence
from stagec.core.precedence import find_unrelated


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    size = draw(st.integers(1, 12))
    return [draw(st.lists(st.integers(0, node - 1), unique=True, max_size=4)) if node else [] for node in range(size)]


def search(needs: list[list[int]], node: int) -> set[int]:
    found: set[int] = set()
    todo = [*needs[node]]
    while todo:
        each = todo.pop()
        if each not in found:
            found.add(each)
            todo.extend(needs[each])
    return found


@given(graphs())
def test_pairs_are_unrelated_that_no_way_relates(needs: list[list[int]]) -> None:
    every = [(node, other) for node in range(len(needs)) for other in range(len(needs))]
    expected = {(node, other) for node, other in every if other not in search(needs, node)}
    assert find_unrelated(needs, range(len(needs)), every) == expected


@given(graphs())
def test_the_passes_do_not_matter(needs: list[list[int]]) -> None:
    every = [(node, other) for node in range(len(needs)) for other in range(len(needs))]
    at_once = find_unrelated(needs, range(len(needs)), every)
    kept, precedence._ANCESTRY_AT_ONCE = precedence._ANCESTRY_AT_ONCE, 2
    try:
        assert find_unrelated(needs, range(len(needs)), every) == at_once
    finally:
        precedence._ANCESTRY_AT_ONCE = kept
