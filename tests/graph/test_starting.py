"""What can start: on any edge, behind forks, chains and joins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from graph.oracle import NetworkxGraph

from stagec.ir.graph import Graph

Ask = Callable[..., Graph | NetworkxGraph]

SCOPES = [
    (("a: b & c > d", "b: done", "c: done", "d: done"), "abcd"),
    (("a: b & c > d", "b: done", "c: failed", "d: done"), "abc"),
    (("a: b, c, d", "b: failed", "c: done", "d: done"), "ab"),
    (("a: b & c > c", "b: done", "c: done"), "abc"),
    (("a: b & c > d", "b: e | f", "c: done", "d: done", "e: failed", "f: done"), "abcdef"),
    (("a: b & c > d", "b: e & f > g", "c: done", "d: done", "e: done", "f: done", "g: done"), "abcdefg"),
    (("a: b & c > d", "b: e & f > g", "c: done", "d: done", "e: done", "f:", "g: done"), "abcef"),
    (("a: b & c > d", "b: d", "c:", "d: done"), "abcd"),
    (("a: d", "x: b & c > e", "b: done", "c: done", "d: b | c", "e: done"), "adbc"),
    (("a: > b", "b: done"), "ab"),
]


@pytest.mark.parametrize(("lines", "started"), SCOPES)
def test_a_join_starts_when_every_node_of_its_scope_can_start_and_end(
    ask: Ask, lines: tuple[str, ...], started: str
) -> None:
    assert ask(*lines).startable() == frozenset(started)


def test_a_node_that_starts_on_any_edge_needs_one(ask: Ask) -> None:
    assert ask("a: b", "b: done", "x: b").startable() == {"a", "b"}


def test_every_entry_starts_its_own_nodes(ask: Ask) -> None:
    lines = ("a: b", "b: done", "c: b | d", "d: done")
    assert ask(*lines, entries="a").startable() == {"a", "b"}
    assert ask(*lines, entries="c").startable() == {"b", "c", "d"}
    assert ask(*lines, entries="a c").startable() == {"a", "b", "c", "d"}


def test_an_entry_that_names_nothing_starts_nothing(ask: Ask) -> None:
    graph = ask("a: done", entries="x")
    assert (graph.exact, graph.startable(), graph.unstartable()) == (False, frozenset(), ("a",))
    assert graph.shortest_run("x") is None


def test_an_unknown_entry_is_an_error(ask: Ask) -> None:
    with pytest.raises(KeyError):
        ask("a: done").shortest_run("x")


def test_edges_to_nothing_are_kept_apart_and_make_the_graph_inexact(ask: Ask) -> None:
    graph = ask("a: b | x | b & x | b & b > x | done", "b: done")
    assert [edge.on for edge in graph.dangling] == ["1", "2", "3"]
    assert (graph.exact, graph.startable()) == (False, {"a", "b"})


@pytest.mark.parametrize(("more", "exact"), [({}, True), ({"exact": False}, False), ({"entries": ""}, False)])
def test_a_graph_is_exact_when_all_of_the_flow_could_be_read_and_something_starts(
    ask: Ask, more: dict[str, Any], *, exact: bool
) -> None:
    assert ask("a: done", **more).exact is exact
