"""What repeats: strongly connected components and those that lead back into themselves."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from graph.oracle import NetworkxGraph

from stagec.ir.graph import Graph

Ask = Callable[..., Graph | NetworkxGraph]

CASES = [
    (("a: b", "b: c | done", "c: b"), (("b", "c"), ("a",)), (("b", "c"),)),
    (("a: b", "b: a | b", "c: a"), (("a", "b"), ("c",)), (("a", "b"),)),
    (("a: b", "b: done"), (("b",), ("a",)), ()),
    (("a: a | done",), (("a",),), (("a",),)),
    (("a: b & c > c", "b: done", "c: done"), (("c",), ("b",), ("a",)), ()),
    (("a: b, c", "b: done", "c: b"), (("b",), ("c",), ("a",)), ()),
    (("a: b & b > d", "b: done", "d: a | done"), (("b",), ("a", "d")), (("a", "d"),)),
    (("a: x", "b: b"), (("a",), ("b",)), (("b",),)),
]


@pytest.mark.parametrize(("lines", "components", "cycles"), CASES)
def test_what_leads_to_each_other_is_one_component(
    ask: Ask, lines: tuple[str, ...], components: tuple[tuple[str, ...], ...], cycles: tuple[tuple[str, ...], ...]
) -> None:
    graph = ask(*lines)
    assert set(graph.components()) == set(components)
    assert graph.cycles() == cycles


def test_a_component_comes_behind_all_it_leads_to(ask: Ask) -> None:
    assert ask("a: b", "b: c | b", "c: d", "d: c").components() == (("c", "d"), ("b",), ("a",))
