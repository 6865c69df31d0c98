"""What starts in a schedule, and when it completes: both implementations, whichever node is the last."""

from __future__ import annotations

from itertools import pairwise

import pytest
from graph.conftest import Ask, flow
from graph.oracle import NetworkxGraph
from hypothesis import given
from hypothesis import strategies as st

from stagec.ir.graph import build
from stagec.ir.graph.graph import MOST

DIAMOND = ("a: done", "b: done", "c: done", "d: done")
NEEDS = "a, b < a, c < a, d < b c"


def test_every_node_of_a_schedule_starts_when_all_complete(ask: Ask) -> None:
    graph = ask(*DIAMOND, entries="", schedule=NEEDS)
    assert graph.exact
    assert graph.startable() == {*"abcd"}
    assert graph.completing() == {*"abcd"}
    assert graph.traps() == ()
    assert graph.cycles() == ()
    assert graph.shortest_run(NEEDS) == 4


@pytest.mark.parametrize(
    ("stuck", "starts", "why"), [("a", "a", "a"), ("b", "abc", "b"), ("c", "abc", "c"), ("d", "abcd", "d")]
)
def test_what_needs_a_node_that_never_completes_never_starts(ask: Ask, stuck: str, starts: str, why: str) -> None:
    lines = [f"{name}: {'failed' if name == stuck else 'done'}" for name in "abcd"]
    graph = ask(*lines, entries="", schedule=NEEDS)
    assert graph.startable() == {*starts}
    assert graph.shortest_run(NEEDS) is None
    assert [trap.nodes for trap in graph.traps()] == [(why,)]


def test_branches_of_a_schedule_may_go_on(ask: Ask) -> None:
    graph = ask("a: x | failed", "x: done", "b: done", entries="", schedule="a, b < a")
    assert graph.startable() == {"a", "x", "b"}
    assert graph.shortest_run("a, b < a") == 3


def test_a_schedule_stands_beside_other_entries(ask: Ask) -> None:
    graph = ask("a: done", "b: done", "c: failed", entries="c", schedule="a, b < a")
    assert graph.startable() == {"a", "b", "c"}
    assert graph.shortest_run("c") is None
    assert graph.shortest_run("a, b < a") == 2


@pytest.mark.parametrize("needs", ["a, z < a", "a, b < z", "a < b"])
def test_a_schedule_that_names_what_is_not_there_is_not_exact(ask: Ask, needs: str) -> None:
    assert not ask("a: done", "b: done", entries="", schedule=needs).exact


def test_a_schedule_of_needs_that_go_round_starts_nothing(ask: Ask) -> None:
    assert ask("a: done", "b: done", entries="", schedule="a < b, b < a").startable() == frozenset()


def test_long_schedules_are_no_recursion() -> None:
    names = [f"n{at}" for at in range(3000)]
    needs = ", ".join([names[0], *(f"{name} < {before}" for before, name in pairwise(names))])
    graph = build(flow(*(f"{name}: done" for name in names), entries="", schedule=needs))
    assert graph.shortest_run(needs) == len(names) < MOST


@st.composite
def schedules(draw: st.DrawFn) -> tuple[list[str], str, str]:
    names = "abcdefg"[: draw(st.integers(1, 7))]
    words = ["done", "failed", *names, " & ".join(names[:2]), ", ".join(names[-2:])]
    lines = [f"{name}: {' | '.join(draw(st.lists(st.sampled_from(words), max_size=2)))}" for name in names]
    inside = draw(st.lists(st.sampled_from(names), unique=True, min_size=1))
    needs = {name: draw(st.lists(st.sampled_from(inside), max_size=2, unique=True)) for name in inside}
    text = ", ".join(f"{name} < {' '.join(needed)}" for name, needed in needs.items())
    return lines, text, draw(st.sampled_from(["", names[0]]))


@given(schedules())
def test_both_find_the_same_of_random_schedules(made: tuple[list[str], str, str]) -> None:
    lines, needs, entries = made
    one, other = (
        build(flow(*lines, entries=entries, schedule=needs)),
        NetworkxGraph(flow(*lines, entries=entries, schedule=needs)),
    )
    assert one.startable() == other.startable()
    assert one.completing() == other.completing()
    assert one.traps() == other.traps()
    assert one.shortest_run(needs) == other.shortest_run(needs)
    assert one.exact == other.exact
