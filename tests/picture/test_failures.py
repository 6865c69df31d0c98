"""Failures that nodes have in common are drawn each, once, or not at all, and nothing that is drawn becomes untrue."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stagec.core.diagnostic import Diagnostic
from stagec.core.value import replace
from stagec.views.picture.document import Picture
from stagec.views.picture.draw import By, Edges, collapse, draw_failures

Draw = Callable[..., Picture]
Moves = Callable[[Picture], list[str]]


def chain(count: int, *others: str) -> list[str]:
    """Return nodes in a row, each of which may fail in the same manner, and others after them."""
    following = [*(f"n{at + 1}" for at in range(count - 1)), others[0].split(":")[0] if others else "done"]
    return [f"n{at}: {then} | failed" for at, then in enumerate(following)] + list(others)


@pytest.fixture
def alike(drawn: Draw) -> Callable[..., Picture]:
    """Return what draws nodes whose failures have the same label."""

    def draw_alike(count: int, *others: str) -> Picture:
        picture = drawn(*chain(count, *others), entries="n0")
        return picture_with_equal_labels(picture)

    return draw_alike


def picture_with_equal_labels(picture: Picture) -> Picture:
    lines = tuple(replace(line, labels=("fail",)) if line.target == "failed" else line for line in picture.lines)
    return replace(picture, lines=lines)


def failures(moves: Moves, picture: Picture) -> list[str]:
    return [each for each in moves(picture) if "failed" in each]


def test_all_edges_are_the_drawing(alike: Callable[..., Picture]) -> None:
    picture = alike(5)
    assert draw_failures(picture, Edges.ALL) is picture


def test_one_edge_stands_for_all(alike: Callable[..., Picture], moves: Moves) -> None:
    picture = draw_failures(alike(5), Edges.ONCE)
    assert failures(moves, picture) == ["every:0 -end-> failed: fail"]
    assert picture.boxes["every:0"].name == "every node"
    assert picture.remarks == ()


def test_no_edge_is_drawn_and_it_is_said(alike: Callable[..., Picture], moves: Moves) -> None:
    picture = draw_failures(alike(5), Edges.MAIN)
    assert failures(moves, picture) == []
    assert "failed" not in picture.boxes
    assert picture.remarks == ("not drawn: every node leads by 'fail' to the end failed",)


def test_the_nodes_that_do_not_fail_alike_are_named(alike: Callable[..., Picture], moves: Moves) -> None:
    picture = draw_failures(alike(5, "x: y", "y: done"), Edges.ONCE)
    assert picture.boxes["every:0"].name == "every node but 'x' and 'y'"
    picture = draw_failures(alike(5, "x: y", "y: done"), Edges.MAIN)
    assert picture.remarks == ("not drawn: every node but 'x' and 'y' leads by 'fail' to the end failed",)


@pytest.mark.parametrize("count", [1, 2])
def test_a_few_are_drawn_as_they_are(alike: Callable[..., Picture], count: int) -> None:
    picture = alike(count)
    assert draw_failures(picture, Edges.ONCE) == picture


def test_what_many_others_do_not_is_drawn_as_it_is(alike: Callable[..., Picture]) -> None:
    others = ["a: b", "b: c", "c: d", "d: done"]
    picture = alike(6, *others)
    assert draw_failures(picture, Edges.MAIN) == picture


def test_a_failure_of_its_own_keeps_its_line_and_the_end(drawn: Draw, moves: Moves) -> None:
    picture = picture_with_equal_labels(drawn(*chain(4), entries="n0"))
    lines = tuple(
        replace(line, labels=("fail", "abort: x = 1")) if line.source == "node:n1" and line.target == "failed" else line
        for line in picture.lines
    )
    picture = draw_failures(replace(picture, lines=lines), Edges.MAIN)
    assert failures(moves, picture) == ["n1 -end-> failed: abort: x = 1"]
    assert "failed" in picture.boxes


def test_what_was_found_at_a_failure_is_still_drawn_where_it_is(
    drawn: Draw, moves: Moves, found: Callable[..., Diagnostic]
) -> None:
    wrong = found("STG1", "nodes", "n1", "edges", 1)
    picture = draw_failures(picture_with_equal_labels(drawn(*chain(4), diagnostics=(wrong,), entries="n0")), Edges.ONCE)
    assert failures(moves, picture) == ["n1 -end-> failed: fail", "every:0 -end-> failed: fail"]
    assert [line.found for line in picture.lines if line.target == "failed"] == [(wrong,), ()]


def test_failures_of_different_manner_and_of_all_are_one_edge_with_both(drawn: Draw, moves: Moves) -> None:
    picture = drawn(*chain(4), entries="n0")
    both = tuple(replace(each, labels=("fail", "abort")) if each.target == "failed" else each for each in picture.lines)
    assert failures(moves, draw_failures(replace(picture, lines=both), Edges.ONCE)) == [
        "every:0 -end-> failed: fail, abort"
    ]


def test_it_stays_true_when_nodes_become_one_box(alike: Callable[..., Picture], moves: Moves) -> None:
    picture = collapse(draw_failures(alike(5, "x: n0 | done"), Edges.ONCE), By.CYCLE)
    assert failures(moves, picture) == ["every:0 -end-> failed: fail"]


def test_a_flow_of_nothing_has_nothing_to_share() -> None:
    empty = Picture("p", "p", {}, ())
    assert [draw_failures(empty, each) for each in Edges] == [empty] * 3
