"""The ways of lines: from border to border, past every box, with labels that cover nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise, takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stagec.views.picture.document import Box, Line, Picture, Role, Stroke
from stagec.views.picture.layout import Frame, Layout, Point, lay_out

NEAR = 0.2
"""Places are rounded to tenths of pixels."""


LABELS = st.lists(st.text("ab ü漢", max_size=40), max_size=5).map(tuple)
STROKES = st.sampled_from(list(Stroke))


def boxes_of(draw: st.DrawFn, names: Iterable[str]) -> dict[str, Box]:
    role = st.sampled_from(list(Role))
    return {name: Box(name, draw(st.text("ab.漢", max_size=90)), draw(role)) for name in names}


@st.composite
def small(draw: st.DrawFn) -> Picture:
    """Draw few boxes with any lines between them."""
    names = [str(number) for number in range(draw(st.integers(1, 14)))]
    ends = st.sampled_from(names)
    lines = draw(st.lists(st.builds(Line, ends, ends, STROKES, LABELS), max_size=40))
    return Picture("p", "p", boxes_of(draw, names), tuple(lines))


@st.composite
def wide(draw: st.DrawFn) -> Picture:
    """Draw boxes of which many have lines to and from the same others, and any lines between these."""
    others, alike = "abcd", [f"n{number}" for number in range(draw(st.integers(11, 25)))]
    boxes = boxes_of(draw, others) | {name: Box(name, name, Role.NODE) for name in alike}
    ends = st.sampled_from(others)
    lines = draw(st.lists(st.builds(Line, ends, ends, STROKES, LABELS), max_size=5))
    for other, stroke, label, leads in draw(st.lists(st.tuples(ends, STROKES, LABELS, st.booleans()), max_size=5)):
        lines += [Line(*((name, other) if leads else (other, name)), stroke, label) for name in alike]
    lines += [Line(name, name, Stroke.GO, ("again",)) for name in draw(st.lists(st.sampled_from(alike), unique=True))]
    return Picture("p", "p", boxes, tuple(lines))


@st.composite
def tall(draw: st.DrawFn) -> Picture:
    """Draw a row of boxes that is too long for one column, and any lines beside it."""
    count = draw(st.integers(60, 90))
    names = [f"n{number}" for number in range(count)]
    ends = st.sampled_from(names)
    beside = draw(st.lists(st.builds(Line, ends, ends, STROKES, LABELS), max_size=20))
    row = [Line(one, other, Stroke.GO, ("next",)) for one, other in pairwise(names)]
    return Picture("p", "p", {name: Box(name, name, Role.NODE) for name in names}, (*row, *beside))


def pictures() -> st.SearchStrategy[Picture]:
    """Draw pictures of every shape."""
    return st.one_of(small(), small(), wide(), tall())


def chain(count: int) -> Picture:
    """Return a row of boxes of which each leads to the next, to the last and back to the first."""
    boxes = {str(number): Box(str(number), f"box {number}", Role.NODE) for number in range(count)}
    last = str(count - 1)
    lines = [
        line
        for number in range(count - 1)
        for line in (
            Line(str(number), str(number + 1), Stroke.GO, ("next",)),
            Line(str(number), last, Stroke.END, ("abort",)),
            Line(str(number), "0", Stroke.JOIN, ("again",)),
        )
    ]
    return Picture("p", "p", boxes, tuple(lines))


def star(count: int) -> Picture:
    """Return a box that leads to all others."""
    boxes = {str(number): Box(str(number), f"box {number}", Role.NODE) for number in range(count)}
    return Picture("p", "p", boxes, tuple(Line("0", name, Stroke.FORK, ("all",)) for name in boxes))


def is_on_border(point: Point, frame: Frame) -> bool:
    x, y = point
    is_inside = frame.x - NEAR <= x <= frame.right + NEAR and frame.y - NEAR <= y <= frame.bottom + NEAR
    distances = abs(x - frame.x), abs(x - frame.right), abs(y - frame.y), abs(y - frame.bottom)
    return is_inside and min(distances) <= NEAR


def overlap(one: Frame, other: Frame) -> bool:
    apart = one.right <= other.x + NEAR or other.right <= one.x + NEAR
    return not (apart or one.bottom <= other.y + NEAR or other.bottom <= one.y + NEAR)


def covered(drawn: Layout) -> list[tuple[Frame, Frame]]:
    """Return the pairs of boxes and labels that overlap."""
    tags = [route.tag.frame for route in drawn.routes if route.tag]
    frames = sorted([*drawn.frames.values(), *tags], key=lambda frame: frame.y)
    return [
        (upper, lower)
        for at, upper in enumerate(frames)
        for lower in takewhile(lambda each, end=upper.bottom: each.y < end, frames[at + 1 :])
        if overlap(upper, lower)
    ]


def crossed(picture: Picture, drawn: Layout) -> list[tuple[str, str]]:
    """Return lines and boxes that are not their ends, where a stretch of the line and the box overlap.

    A stretch bends inside the rectangle between its points, which is therefore taken for it.
    """
    return [
        (line.source, name)
        for line, route in zip(picture.lines, drawn.routes, strict=True)
        for (x, y), (across, below) in zip(route.points, route.points[1:], strict=False)
        for name, frame in drawn.frames.items()
        if overlap(Frame(min(x, across), min(y, below), abs(x - across), abs(y - below)), frame)
    ]


@given(pictures())
@settings(deadline=None)
def test_a_line_leads_from_the_border_of_one_box_to_that_of_the_other(picture: Picture) -> None:
    drawn = lay_out(picture)
    for line, route in zip(picture.lines, drawn.routes, strict=True):
        assert is_on_border(route.points[0], drawn.frames[line.source])
        assert is_on_border(route.points[-1], drawn.frames[line.target])


@given(pictures())
@settings(deadline=None)
def test_no_label_covers_a_label_or_a_box(picture: Picture) -> None:
    assert covered(lay_out(picture)) == []


@given(pictures())
@settings(deadline=None)
def test_no_line_runs_through_a_box(picture: Picture) -> None:
    assert crossed(picture, lay_out(picture)) == []


@given(pictures())
@settings(deadline=None)
def test_everything_is_on_the_page(picture: Picture) -> None:
    drawn = lay_out(picture)
    points = [point for route in drawn.routes for point in route.points]
    points += [(route.tag.frame.x, route.tag.frame.y) for route in drawn.routes if route.tag]
    points += [(route.tag.frame.right, route.tag.frame.bottom) for route in drawn.routes if route.tag]
    assert [(x, y) for x, y in points if not (0 <= x <= drawn.width and 0 <= y <= drawn.height)] == []


@pytest.mark.parametrize("picture", [chain(120), star(120)], ids=["chain", "star"])
def test_what_is_large_is_drawn_as_well(picture: Picture) -> None:
    drawn = lay_out(picture)
    assert covered(drawn) == []
    assert crossed(picture, drawn) == []
    assert all(0 <= x <= drawn.width and 0 <= y <= drawn.height for route in drawn.routes for x, y in route.points)
    for line, route in zip(picture.lines, drawn.routes, strict=True):
        assert is_on_border(route.points[0], drawn.frames[line.source])
        assert is_on_border(route.points[-1], drawn.frames[line.target])


@pytest.mark.parametrize("picture", [chain(1_000), star(1_000)], ids=["chain", "star"])
def test_what_is_very_large_is_not_much_higher_than_wide_nor_much_wider_than_high(picture: Picture) -> None:
    drawn = lay_out(picture)
    assert 1 / 3 < drawn.width / drawn.height < 3


def test_the_branches_of_a_wide_fork_are_a_block_of_rows() -> None:
    boxes = {name: Box(name, name, Role.NODE) for name in ("fork", *map(str, range(60)), "join")}
    forks = [Line("fork", str(number), Stroke.FORK, ("ok",)) for number in range(60)]
    joins = [Line(str(number), "join", Stroke.JOIN, ("ok",)) for number in range(60)]
    frames = lay_out(Picture("p", "p", boxes, (*forks, *joins))).frames
    rows = Counter(frames[str(number)].y for number in range(60))
    assert len(rows) > 3
    assert len(set(rows.values())) == 1
    assert frames["fork"].bottom < min(rows) < max(rows) < frames["join"].y


def test_what_follows_the_branches_of_a_wide_fork_stands_below_them() -> None:
    names = ["fork", *(f"{part}{number}" for number in range(40) for part in ("first", "second")), "end"]
    lines = []
    for number in range(40):
        first, second = f"first{number}", f"second{number}"
        moves = (("fork", first), (first, second), (second, "end"), (second, first))
        lines += [Line(one, other, Stroke.GO) for one, other in moves]
    frames = lay_out(Picture("p", "p", {name: Box(name, name, Role.NODE) for name in names}, tuple(lines))).frames
    heights = sorted({frame.y for frame in frames.values()})
    steps = {heights.index(frames[f"second{each}"].y) - heights.index(frames[f"first{each}"].y) for each in range(40)}
    assert steps == {1}


def test_a_long_row_goes_on_at_the_top_of_the_next_column() -> None:
    names = [str(number) for number in range(100)]
    row = tuple(Line(one, other, Stroke.GO) for one, other in pairwise(names))
    frames = lay_out(Picture("p", "p", {name: Box(name, name, Role.NODE) for name in names}, row)).frames
    tops = [other for one, other in pairwise(names) if frames[other].y < frames[one].y]
    assert len(tops) == 2
    assert frames["0"].right < frames[tops[0]].x < frames[tops[0]].right < frames[tops[1]].x


def test_lines_that_merge_are_told_from_lines_that_part() -> None:
    boxes = {name: Box(name, name, Role.NODE) for name in ("a", *(f"n{number}" for number in range(20)))}
    away = [Line("a", f"n{number}", Stroke.FORK) for number in range(20)]
    back = [Line(f"n{number}", "a", Stroke.JOIN) for number in range(20)]
    routes = lay_out(Picture("p", "p", boxes, (*away, *back))).routes
    assert [route.merges for route in routes] == [False] * 20 + [True] * 20


def test_runs_start_at_the_top() -> None:
    boxes = {name: Box(name, name, Role.NODE) for name in "abc"}
    starts = {name: Box(name, name, Role.START) for name in ("early", "late")}
    moves = (("a", "b"), ("b", "c"))
    entries = (Line("early", "a", Stroke.ENTRY), Line("late", "c", Stroke.ENTRY))
    lines = (*(Line(one, other, Stroke.GO) for one, other in moves), *entries)
    frames = lay_out(Picture("p", "p", {**boxes, **starts}, lines)).frames
    assert frames["early"].y == frames["late"].y == min(frame.y for frame in frames.values())
