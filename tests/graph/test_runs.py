"""How short and how long runs are, and the ways to nodes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from graph.conftest import flow
from graph.oracle import NetworkxGraph

from stagec.ir.graph import Graph

Ask = Callable[..., Graph | NetworkxGraph]

RUNS = [
    (("a: done",), 1, 1),
    (("a: b | c", "b: c", "c: done"), 2, 3),
    (("a: a | done",), 1, None),
    (("a: b", "b: failed"), None, 2),
    (("a:",), None, 1),
    (("a: b & c > d", "b: done", "c: done", "d: done"), 4, 4),
    (("a: b, c", "b: done", "c: done"), 3, 3),
    (("a: b & c > c", "b: done", "c: done"), 4, 4),
    (("a: b & c > d", "b: r | done", "r: done", "c: done", "d: done"), 4, 5),
    (("a: b & c > d", "b: e & e > f", "c: done", "d: done", "e: done", "f: done"), 7, 7),
    (("a: b & c > d | e", "b: done", "c: done", "d: a | done", "e: f", "f: done"), 3, None),
    (("a: b & c > d", "b: done", "c: failed", "d: done"), None, 4),
    (("a: > b", "b: done"), 2, 2),
    (("a: x", "x: done", "y: y"), 2, 2),
]


@pytest.mark.parametrize(("lines", "least", "most"), RUNS)
def test_a_run_takes_so_many_executions_at_least(
    ask: Ask, lines: tuple[str, ...], least: int | None, most: int | None
) -> None:
    assert ask(*lines).shortest_run("a") == least
    assert NetworkxGraph(flow(*lines)).longest_run("a") == most


def test_numbers_do_not_grow_without_end(ask: Ask) -> None:
    lines = [f"n{at}: n{at + 1} & n{at + 1}" for at in range(100)]
    graph = ask(*lines, "n100: done", entries="n0 n90")
    assert (graph.shortest_run("n0"), graph.shortest_run("n90")) == (10**18, 2047)
