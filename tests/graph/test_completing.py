"""What can complete, what is stuck, and where stuck runs end up."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from graph.oracle import NetworkxGraph

from stagec.ir.graph import Graph, Trap

Ask = Callable[..., Graph | NetworkxGraph]


CASES = [
    (("a: b", "b: done"), "ab"),
    (("a: b | c", "b: failed", "c: done"), "ac"),
    (("a: a",), ""),
    (("a: b & c", "b: done", "c: done"), "abc"),
    (("a: b & c", "b: done", "c: failed"), "b"),
    (("a: b & c > d", "b: done", "c: done", "d: failed"), "bc"),
    (("a: b & c > d", "b: done", "c: done", "d: a"), "bc"),
    (("a: b & c > d", "b: done", "c: done", "d: a | done"), "abcd"),
    (("a: b & c > c", "b: done", "c: done"), "abc"),
    (("a: b & c > d", "b: r | failed", "r: done", "c: done", "d: done"), "abcdr"),
]


@pytest.mark.parametrize(("lines", "completing"), CASES)
def test_a_node_completes_when_some_edge_leads_to_a_completing_end(
    ask: Ask, lines: tuple[str, ...], completing: str
) -> None:
    assert ask(*lines).completing() == frozenset(completing)


def test_a_node_that_cannot_start_is_not_stuck(ask: Ask) -> None:
    assert ask("a: b", "b:", "c:").find_stuck() == ("a", "b")


TRAPS = [
    (("a: b | done", "b: failed"), [Trap(("b",), False)]),
    (("a: b", "b: c", "c: b"), [Trap(("b", "c"), True)]),
    (("a: a",), [Trap(("a",), True)]),
    (("a: b | c", "b:", "c: c"), [Trap(("b",), False), Trap(("c",), True)]),
    (("a: b & c > d", "b: done", "c: done", "d:"), [Trap(("d",), False)]),
    (("a: b & c > d", "b: done", "c: done", "d: a"), [Trap(("a", "d"), True)]),
    (("a: b & c > d", "b: done", "c:", "d: done"), [Trap(("c",), False)]),
    (("a: a, b", "b:"), [Trap(("a",), True)]),
    (("a: c, b", "b:", "c: a"), [Trap(("a", "c"), True)]),
    (("a: a & c > b", "b:", "c: done"), [Trap(("a",), True)]),
    (("a: done", "b: b"), []),
    (("a:",), [Trap(("a",), False)]),
]


@pytest.mark.parametrize(("lines", "traps"), TRAPS)
def test_a_trap_is_the_last_place_a_stuck_run_gets_to(ask: Ask, lines: tuple[str, ...], traps: list[Trap]) -> None:
    assert list(ask(*lines).traps()) == traps
