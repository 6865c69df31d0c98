"""Where things are drawn: boxes never cover each other, whatever the flow, and the same flow is drawn the same."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from stagec.views.picture.document import Box, Line, Picture, Role, Stroke
from stagec.views.picture.layout import Frame, Layout, lay_out

NAMES = [f"n{number}" for number in range(12)]


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    chosen = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    ends = st.sampled_from(chosen)
    labels = st.lists(st.text("abc .", min_size=1, max_size=30), max_size=3).map(tuple)
    line = st.builds(Line, ends, ends, st.sampled_from(list(Stroke)), labels)
    boxes = {
        name: Box(name, draw(st.text("abc.", min_size=1, max_size=60)), draw(st.sampled_from(list(Role))))
        for name in chosen
    }
    return Picture("p", "p", boxes, tuple(draw(st.lists(line, max_size=25))))


def overlap(one: Frame, other: Frame) -> bool:
    apart = one.x + one.width <= other.x or other.x + other.width <= one.x
    return not (apart or one.y + one.height <= other.y or other.y + other.height <= one.y)


def inside(frame: Frame, drawn: Layout) -> bool:
    fits = frame.x >= 0 and frame.x + frame.width <= drawn.width
    return fits and frame.y >= 0 and frame.y + frame.height <= drawn.height


@given(pictures())
@settings(deadline=None)
def test_no_two_boxes_overlap_and_all_are_on_the_page(picture: Picture) -> None:
    drawn = lay_out(picture)
    frames = list(drawn.frames.values())
    assert set(drawn.frames) == set(picture.boxes)
    assert [frame for frame in frames if not inside(frame, drawn)] == []
    pairs = ((one, other) for index, one in enumerate(frames) for other in frames[:index])
    assert [pair for pair in pairs if overlap(*pair)] == []


@given(pictures())
@settings(deadline=None)
def test_labels_cover_no_box(picture: Picture) -> None:
    drawn = lay_out(picture)
    tags = [route.tag.frame for route in drawn.routes if route.tag is not None]
    assert [tag for tag in tags if any(overlap(tag, frame) for frame in drawn.frames.values())] == []


@given(pictures())
@settings(deadline=None)
def test_the_same_picture_is_drawn_the_same(picture: Picture) -> None:
    assert lay_out(picture) == lay_out(picture)


def test_two_thousand_boxes_are_drawn() -> None:
    boxes = {str(number): Box(str(number), f"box {number}", Role.NODE) for number in range(2_000)}
    lines = tuple(Line(str(number), str(number * 7 % 2_000), Stroke.GO, ("next",)) for number in range(2_000))
    chain = tuple(Line(str(number), str(number + 1), Stroke.GO) for number in range(1_999))
    assert len(lay_out(Picture("p", "p", boxes, (*lines, *chain))).frames) == 2_000
