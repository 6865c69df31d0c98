"""The flow as a networkx graph."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import pytest

from stagec.graph import Questions

Ask = Callable[..., Questions]


def test_a_digraph_has_all_nodes_and_says_of_each_edge_where_it_comes_from(ask: Ask) -> None:
    made = ask("a: b & c > d | e | x", "b: done", "c: done", "d: e, b > a", "e: back").digraph()
    assert list(made.nodes) == list("abcde")
    assert sorted(
        (*pair, data["role"], data["outcome"], data["at"].pointer) for *pair, data in made.edges(data=True)
    ) == [
        ("a", "b", "branch", "0", ("a", 0)),
        ("a", "c", "branch", "0", ("a", 0)),
        ("a", "e", "step", "1", ("a", 1)),
        ("b", "a", "join", "0", ("d", 0)),
        ("b", "d", "join", "0", ("a", 0)),
        ("c", "d", "join", "0", ("a", 0)),
        ("d", "e", "branch", "0", ("d", 0)),
        ("e", "a", "back", "0", ("e", 0)),
        ("e", "b", "next", "0", ("d", 0)),
        ("e", "d", "back", "0", ("e", 0)),
    ]


def test_a_digraph_is_frozen(ask: Ask) -> None:
    made = ask("a: done").digraph()
    assert made.is_multigraph()
    with pytest.raises(nx.NetworkXError):
        made.add_node("b")


def test_a_join_behind_no_nodes_follows_at_once(ask: Ask) -> None:
    assert list(ask("a: > b", "b: done").digraph().edges(data="role")) == [("a", "b", "join")]
