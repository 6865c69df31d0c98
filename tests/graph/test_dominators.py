"""What lies on every way."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from patience import ends

from stagec.graph import Questions
from stagec.graph.dominators import dominators

Ask = Callable[..., Questions]

CASES = [
    (("a: b | c", "b: d", "c: d", "d: done"), {"a": None, "b": "a", "c": "a", "d": "a"}),
    (("a: b", "b: c", "c: b | d", "d: a"), {"a": None, "b": "a", "c": "b", "d": "c"}),
    (("a: b, c > d", "b: done", "c: done", "d: done"), {"a": None, "b": "a", "c": "b", "d": "c"}),
    (("a: b & c > d", "b: done", "c: done", "d: done"), {"a": None, "b": "a", "c": "a", "d": "a"}),
    (("a: b", "b: back | a", "c: a"), {"a": None, "b": "a"}),
    (("a: a",), {"a": None}),
    # Lengauer and Tarjan's own example
    (
        (
            "r: a | b | c",
            "a: d",
            "b: a | d | e",
            "c: f | g",
            "d: l",
            "e: h",
            "f: i",
            "g: i | j",
            "h: e | k",
            "i: k",
            "j: i",
            "k: i | r",
            "l: h",
        ),
        {**dict.fromkeys("abcdeihk", "r"), "r": None, "f": "c", "g": "c", "j": "g", "l": "d"},
    ),
]


@pytest.mark.parametrize(("lines", "above"), CASES)
def test_the_immediate_dominator_is_the_last_other_node_on_every_way(
    ask: Ask, lines: tuple[str, ...], above: dict[str, str | None]
) -> None:
    entry = lines[0][0]
    assert ask(*lines, entries=entry).dominators(entry) == above


def test_from_several_entries_only_what_lies_on_all_ways_counts(ask: Ask) -> None:
    graph = ask("a: b | c", "b: d", "c: d", "d: e", "e: done", entries="a c")
    assert graph.dominators() == {"a": None, "b": "a", "c": None, "d": None, "e": "d"}
    assert graph.dominators("c") == {"c": None, "d": "c", "e": "d"}


def test_a_node_dominates_itself_and_what_is_below_it(ask: Ask) -> None:
    graph = ask("a: b", "b: c", "c: done", "x: c")
    assert [graph.dominates(*pair) for pair in ("ac", "bb", "ca", "ax", "xc")] == [True, True, False, False, False]


def test_a_closure_that_every_node_leads_to_costs_no_more_than_others() -> None:
    count = 20_000
    moves = [[at + 1, count] for at in range(count)] + [[]]
    with ends():
        found = dominators(moves, [0])
        assert found.above[count] == 0
