"""The ways of lines: from border to border, past every box, with labels that cover nothing."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stagec.picture.document import Box, Line, Picture, Role, Stroke
from stagec.picture.layout import Frame, Layout, Point, lay_out

NEAR = 0.2
"""Places are rounded to tenths of pixels."""


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    count = draw(st.integers(1, 14))
    ends = st.integers(0, count - 1).map(str)
    labels = st.lists(st.text("ab ü漢", max_size=40), max_size=5).map(tuple)
    lines = draw(st.lists(st.builds(Line, ends, ends, st.sampled_from(list(Stroke)), labels), max_size=40))
    boxes = {
        str(number): Box(str(number), draw(st.text("ab.漢", max_size=90)), draw(st.sampled_from(list(Role))))
        for number in range(count)
    }
    return Picture("p", "p", boxes, tuple(lines))


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
            Line(str(number), "0", Stroke.BACK, ("again",)),
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
    return [pair for pair in combinations([*drawn.frames.values(), *tags], 2) if overlap(*pair)]


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


def test_runs_start_at_the_top() -> None:
    boxes = {name: Box(name, name, Role.NODE) for name in "abc"}
    starts = {name: Box(name, name, Role.START) for name in ("early", "late")}
    moves = (("a", "b"), ("b", "c"))
    entries = (Line("early", "a", Stroke.ENTRY), Line("late", "c", Stroke.ENTRY))
    lines = (*(Line(one, other, Stroke.GO) for one, other in moves), *entries)
    frames = lay_out(Picture("p", "p", {**boxes, **starts}, lines)).frames
    assert frames["early"].y == frames["late"].y == min(frame.y for frame in frames.values())
