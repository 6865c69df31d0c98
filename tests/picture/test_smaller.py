"""A part of a drawing, several nodes as one, and drawings that fit a format."""

from __future__ import annotations

from collections.abc import Callable

from stagec.core.diagnostic import Diagnostic
from stagec.views.picture.document import Picture
from stagec.views.picture.draw import By, Limit, collapse, find_exceeded, fit, focus, weigh

Draw = Callable[..., Picture]
Moves = Callable[[Picture], list[str]]
CHAIN = ("a: b | done", "b: c", "c: d", "d: e", "e: done")


def test_a_focus_shows_what_is_near_in_both_directions_and_says_what_is_left_out(drawn: Draw) -> None:
    picture = focus(drawn(*CHAIN), "node:c", 1)
    assert [box.name for box in picture.boxes.values()] == ["b", "c", "d"]
    assert picture.remarks == ("left out: 4 of 7 boxes, more than 1 line away from 'c'",)


def test_a_focus_does_not_go_through_an_end(drawn: Draw) -> None:
    assert "node:e" not in focus(drawn(*CHAIN), "node:a", 2).boxes


def test_a_focus_counts_the_findings_it_leaves_out(drawn: Draw, found: Callable[..., Diagnostic]) -> None:
    picture = focus(drawn(*CHAIN, diagnostics=(found("STG1", "nodes", "e"),)), "node:a", 0)
    assert picture.remarks == ("left out: 6 of 7 boxes, more than 0 lines away from 'a', with 1 finding",)


def test_a_focus_that_leaves_nothing_out_is_the_drawing(drawn: Draw) -> None:
    picture = drawn(*CHAIN)
    assert focus(picture, "node:a", 9) == picture


def test_a_cycle_becomes_one_box(drawn: Draw, moves: Moves, found: Callable[..., Diagnostic]) -> None:
    wrong = found("STG1", "nodes", "b", "edges", 0)
    picture = collapse(drawn("a: b", "b: c", "c: b | done", diagnostics=(wrong,)), By.CYCLE)
    group = picture.boxes["group:cycle of b"]
    assert (group.members, group.found) == (("b", "c"), (wrong,))
    assert moves(picture) == [
        "start:a -entry-> a",
        "a -go-> group:cycle of b: a0",
        "group:cycle of b -end-> done: c1",
    ]
    assert picture.remarks == ("nodes that lead back to each other are drawn as one box: 2 nodes as 1",)


def test_a_phase_becomes_one_box_and_what_is_not_reached_another(drawn: Draw) -> None:
    picture = collapse(
        drawn("a work: b", "b work: x.c", "x.c: x.d", "x.d: done", "e work: a", "f work: a", "g: a"), By.PHASE
    )
    assert {box.name: box.members for box in picture.boxes.values() if box.members} == {
        "work": ("a", "b"),
        "x": ("x.c", "x.d"),
        "work, never reached": ("e", "f"),
    }
    assert [box.name for box in picture.boxes.values() if not box.is_reached] == ["work, never reached", "g"]


def test_a_drawing_without_groups_stays_as_it_is(drawn: Draw) -> None:
    picture = drawn(*CHAIN)
    assert [collapse(picture, by) for by in By] == [picture, picture]


def test_what_is_too_large_is_collapsed_until_it_fits_and_says_so(drawn: Draw) -> None:
    large = drawn(*(f"n{at} work: n{at + 1}" for at in range(50)), "n50 work: done", entries="n0")
    assert fit((large,), (Limit(1_000, "boxes and lines", weigh),)) == (large,)
    (small,) = fit((large,), (Limit(20, "boxes and lines", weigh),))
    assert (weigh([large]), weigh([small])) == (105, 5)
    assert small.remarks == (
        "nodes of one phase are drawn as one box: 51 nodes as 1",
        "105 boxes and lines are more than 20",
    )


def test_every_limit_counts_and_only_drawings_beyond_their_share_are_collapsed(drawn: Draw) -> None:
    large = drawn(*(f"n{at} work: n{at + 1}" for at in range(50)), "n50 work: done", entries="n0")
    small = drawn("a work: b", "b work: done")
    count = Limit(60, "lines", lambda pictures: sum(len(each.lines) for each in pictures))
    assert fit((large, small), (count,)) == (large, small)
    left = fit((large, small), (count, Limit(40, "boxes", lambda pictures: sum(len(each.boxes) for each in pictures))))
    assert left[1] == small
    assert left[0].remarks[-1] == "53 boxes are too many where 2 flows share 40"


def test_what_no_collapsing_makes_small_enough_is_told_with_the_limit(drawn: Draw) -> None:
    limits = (Limit(1, "lines", lambda pictures: sum(len(each.lines) for each in pictures)),)
    pictures = fit((drawn("a: b", "b: done"),), limits)
    exceeded = find_exceeded(pictures, limits)
    assert exceeded is not None
    assert exceeded.tell(pictures) == "3 lines"
