"""How a schedule is drawn: from the start to what needs nothing, from needs to nodes, and to the end."""

from __future__ import annotations

from functools import partial
from math import inf, nan

import pytest
from graph.conftest import flow

from stagec.core.value import replace
from stagec.ir.flow import Need, WrittenSchedule
from stagec.ir.graph import build
from stagec.views.picture.document import DONE, FAILED, Role, Stroke, box_of, schedule_of
from stagec.views.picture.draw import draw

NEEDS = "a, b < a, c < a, d < b c"
LINES = tuple(f"{name}: done | failed" for name in "abcd")


def test_a_schedule_is_drawn_by_its_needs() -> None:
    picture = draw(build(flow(*LINES, entries="", schedule=NEEDS)), (), {})
    start = schedule_of(NEEDS)
    assert picture.boxes[start].role is Role.START
    assert {(line.source, line.target, line.stroke) for line in picture.lines} == {
        (start, box_of("a"), Stroke.ENTRY),
        (box_of("a"), box_of("b"), Stroke.GO),
        (box_of("a"), box_of("c"), Stroke.GO),
        (box_of("b"), box_of("d"), Stroke.JOIN),
        (box_of("c"), box_of("d"), Stroke.JOIN),
        (box_of("d"), DONE, Stroke.END),
    }
    assert [name for name in "abcd" if picture.boxes[box_of(name)].is_join] == ["d"]
    assert FAILED not in picture.boxes
    assert picture.remarks == ()


def test_an_inferred_need_says_so() -> None:
    made = flow(*LINES, entries="", schedule=NEEDS)
    needs = made.schedules[NEEDS].needs
    written = WrittenSchedule(made.at, lambda node: tuple(Need(each, made.at, node == "b") for each in needs[node]))
    picture = draw(build(replace(made, written={NEEDS: written})), (), {})
    assert [line.labels for line in picture.lines if line.target == box_of("b")] == [("inferred",)]


def test_a_schedule_that_cannot_complete_says_so() -> None:
    lines = [*LINES[:3], "d: failed"]
    assert "no run can end as done" in draw(build(flow(*lines, entries="", schedule=NEEDS)), (), {}).remarks


@pytest.mark.parametrize(
    ("times", "marked"),
    [
        ({"a": 60, "b": 30, "c": 90, "d": 60}, ["a c", "c d"]),
        ({"a": 60, "b": 90.5, "c": 90, "d": 60}, ["a b", "b d"]),
        ({"a": 60, "b": inf, "c": 10, "d": -1}, ["a b"]),
        ({"a": 60, "b": nan, "c": 10, "d": nan}, ["a c"]),
        ({"a": 60}, []),
        ({}, []),
    ],
)
def test_the_critical_path_is_marked_where_times_are_known(times: dict[str, float], marked: list[str]) -> None:
    made = flow(*LINES, entries="", schedule=NEEDS)
    written = WrittenSchedule(made.at, partial(made.list_needs, NEEDS), times)
    picture = draw(build(replace(made, written={NEEDS: written})), (), {})
    critical = [line for line in picture.lines if line.labels == ("critical path",)]
    assert [f"{picture.boxes[line.source].name} {picture.boxes[line.target].name}" for line in critical] == marked
