"""Two drawings in one: what has become of every box and line, also where nodes are one box, renamed or far away."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from picture.conftest import flow

from stagec.core.value import replace
from stagec.views.picture.document import Box, Fate, Line, Picture, Role, Stroke, describe_labels, list_fates
from stagec.views.picture.draw import By, Edges, collapse, draw_failures
from stagec.views.picture.draw import draw as draw_graph
from stagec.views.picture.layout import lay_out
from stagec.views.picture.overlay import Told, focus_changes, lay_over

Draw = Callable[..., Picture]
OLD = ("a: b | done", "b: c", "c: done")
NEW = ("a: b | done", "b: d | done", "d: done")


def fates(picture: Picture) -> dict[str, str]:
    return {name.removeprefix("node:"): str(box.fate) for name, box in picture.boxes.items()}


def lines(picture: Picture) -> set[tuple[str, str, str]]:
    ends = ((line.source.removeprefix("node:"), line.target.removeprefix("node:"), line) for line in picture.lines)
    return {(source, target, str(line.fate)) for source, target, line in ends}


def test_every_box_and_line_is_as_before_added_or_removed(drawn: Draw) -> None:
    picture = lay_over(drawn(*OLD), drawn(*NEW), Told(), "main")
    assert fates(picture) == {
        "start:a": "same", "a": "same", "b": "same", "c": "removed", "d": "added", "done": "same",
    }  # fmt: skip
    assert lines(picture) == {
        ("start:a", "a", "same"), ("a", "b", "same"), ("a", "done", "same"), ("b", "c", "removed"),
        ("c", "done", "removed"), ("b", "d", "added"), ("b", "done", "added"), ("d", "done", "added"),
    }  # fmt: skip
    assert picture.remarks[0] == "compared with main: nodes 1 added, 1 removed; lines 3 added, 2 removed"
    assert picture.fate is Fate.CHANGED


def test_what_is_gone_stands_where_it_stood(drawn: Draw) -> None:
    picture = lay_over(drawn(*OLD), drawn(*NEW), Told(), "main")
    assert [name for name in picture.boxes if name.startswith("node:")] == ["node:a", "node:b", "node:c", "node:d"]


def test_the_same_drawing_twice_has_not_changed(drawn: Draw) -> None:
    picture = lay_over(drawn(*OLD), drawn(*OLD), Told(), "main")
    assert (picture.fate, list_fates([picture])) == (Fate.SAME, [])
    assert picture.remarks[0] == "compared with main: nothing has changed"


@pytest.mark.parametrize(("sides", "fate"), [((0, 1), Fate.REMOVED), ((1, 0), Fate.ADDED)])
def test_a_flow_of_one_side_is_added_or_removed_as_a_whole(drawn: Draw, sides: tuple[int, int], fate: Fate) -> None:
    known = (drawn(*OLD), None)
    picture = lay_over(known[sides[0]], known[sides[1]], Told(), "main")
    assert {*fates(picture).values(), *(fate for *_, fate in lines(picture)), picture.fate} == {fate}
    assert picture.remarks[0] == f"compared with main: the flow is {fate}"
    failing = draw_failures(picture, Edges.ONCE)
    assert {box.fate for box in failing.boxes.values()} == {fate}


def test_labels_that_come_and_go_are_told_apart() -> None:
    boxes = {name: Box(name, name, Role.NODE) for name in "ab"}
    sides = [Picture("f", "f", boxes, (Line("a", "b", Stroke.GO, labels),)) for labels in (("x", "y"), ("y", "z"))]
    (line,) = lay_over(sides[0], sides[1], Told(), "main").lines
    assert (line.fate, line.labels, line.before) == (Fate.CHANGED, ("y", "z"), ("x", "y"))
    assert describe_labels(line) == ("y", "- x", "+ z")
    added = replace(line, fate=Fate.ADDED, labels=())
    assert describe_labels(added) == ("+ added",)


def test_a_line_of_another_stroke_is_another_line() -> None:
    boxes = {name: Box(name, name, Role.NODE) for name in "ab"}
    sides = [Picture("f", "f", boxes, (Line("a", "b", stroke),)) for stroke in (Stroke.GO, Stroke.FORK)]
    assert [each.fate for each in lay_over(sides[0], sides[1], Told(), "main").lines] == [Fate.ADDED, Fate.REMOVED]


def test_what_is_told_of_a_node_is_at_its_box_and_of_moves_only_where_no_line_shows_it(drawn: Draw) -> None:
    told = Told({"a": ("turns 20 → 30",)}, ("~ limit",), by_move={"b": ("hidden",), "a": ("shown",)})
    picture = lay_over(drawn(*OLD), drawn(*NEW), told, "main")
    assert picture.boxes["node:a"].changes == ("turns 20 → 30", "shown")
    assert (picture.boxes["node:b"].changes, picture.changes) == ((), ("~ limit",))


def test_a_renamed_node_keeps_its_lines(drawn: Draw) -> None:
    new = ("a: b | done", "b: x", "x: done")
    told = Told(renamed={"c": "x"}, by_node={"c": ("✗ CHG117",)})
    picture = lay_over(drawn(*OLD), drawn(*new), told, "main")
    assert picture.boxes["node:x"].changes == ("renamed from 'c'", "✗ CHG117")
    assert {fate for source, _, fate in lines(picture) if source != "x"} == {"same"}
    assert ("x", "done", "changed") in lines(picture)  # its label has its name
    start = lay_over(drawn("a: done"), drawn("b: done", entries="b"), Told(renamed={"a": "b"}), "main")
    assert fates(start) == {"start:b": "changed", "b": "changed", "done": "same"}


def test_what_is_seen_counts_where_nothing_is_told(drawn: Draw) -> None:
    old, new = drawn("a: b", "b: done", "c: done"), drawn("a: c", "b: done", "c: done")
    picture = lay_over(old, new, Told(), "main")
    assert picture.boxes["node:b"].changes == ("never reached any more",)
    assert picture.boxes["node:c"].changes == ("reached now",)


def test_details_tell_what_they_can_of_flows_that_cannot_be_compared() -> None:
    sides = [
        Picture("f", "f", {"a": Box("a", "a", Role.NODE, kind, details={"prompt": prompt, "schema": 1})}, ())
        for kind, prompt in (("work", "Old"), ("closure", "New"))
    ]
    picture = lay_over(sides[0], sides[1], Told(is_known=False), "main")
    assert picture.boxes["a"].changes == ("kind work → closure", "prompt changed")
    assert "what differs inside of nodes is not all known" in picture.remarks[1]


def test_choices_are_matched_by_what_is_around_them_and_not_by_number() -> None:
    def side(*choices: tuple[str, str]) -> Picture:
        boxes = {name: Box(name, name, Role.NODE) for name in "abcd"}
        boxes |= {f"choice:{at}": Box(f"choice:{at}", "one of 2", Role.CHOICE) for at in range(len(choices))}
        made = (Line(f"choice:{at}", end, Stroke.GO) for at, ends in enumerate(choices) for end in ends)
        return Picture("f", "f", boxes, tuple(made))

    assert list_fates([lay_over(side(("a", "b"), ("c", "d")), side(("c", "d"), ("a", "b")), Told(), "main")]) == []
    gone = lay_over(side(("a", "b"), ("c", "d")), side(("c", "d")), Told(), "main")
    assert list_fates([gone]) == [Fate.REMOVED]
    assert sum(box.role is Role.CHOICE for box in gone.boxes.values()) == 2


def test_a_group_says_what_has_become_of_its_members(drawn: Draw) -> None:
    old = ("a: b", "b: c", "c: a | done")
    new = ("a: b", "b: c", "c: a | b | done")
    told = Told({"b": ("turns 1 → 2\n+ line",)})
    picture = collapse(lay_over(drawn(*old), drawn(*new), told, "main"), By.CYCLE)
    group = picture.boxes["group:cycle of a"]
    assert (group.fate, group.changes) == (Fate.CHANGED, ("b: turns 1 → 2", "1 line inside added"))
    same = collapse(lay_over(drawn(*old), drawn(*old), Told(), "main"), By.CYCLE)
    assert same.boxes["group:cycle of a"].fate is Fate.SAME


def test_parallel_lines_stay_apart_where_something_else_has_become_of_them(drawn: Draw) -> None:
    old, new = ("a: b | done", "b: c", "c: b | done"), ("a: c | done", "b: c", "c: b | done")
    picture = collapse(lay_over(drawn(*old), drawn(*new), Told(), "main"), By.CYCLE)
    found = [line.fate for line in picture.lines if (line.source, line.target) == ("node:a", "group:cycle of b")]
    assert sorted(map(str, found)) == ["added", "removed"]
    assert len(lay_out(picture).routes) == len(picture.lines)


def test_failures_that_are_as_before_are_drawn_once_and_those_that_are_not_each(drawn: Draw) -> None:
    old = ("a: b | failed", "b: c | failed", "c: d | failed", "d: done | failed")
    new = ("a: b | failed", "b: c | failed", "c: d", "d: e | failed", "e: done | failed")
    bare = [
        replace(picture, lines=tuple(replace(line, labels=()) for line in picture.lines))
        for picture in (drawn(*old), drawn(*new))
    ]
    picture = draw_failures(lay_over(bare[0], bare[1], Told(), "main"), Edges.ONCE)
    failing = {(line.source, str(line.fate)) for line in picture.lines if line.target == "failed"}
    assert failing == {("every:0", "same"), ("node:c", "removed")}


def test_only_what_is_near_changes_is_drawn_on_request(drawn: Draw) -> None:
    chain = tuple(f"{one}: {other}" for one, other in zip("abcdefg", "bcdefgh", strict=True))
    old, new = drawn(*chain, "h: done"), drawn(*chain, "h: done | a")
    assert [each for each in focus_changes(lay_over(old, new, Told(), "m"), 1).boxes if each.startswith("node:")] == [
        "node:a", "node:b", "node:g", "node:h",
    ]  # fmt: skip
    same = lay_over(old, old, Told(), "m")
    assert focus_changes(same, 0) == same


def test_a_wide_fork_in_which_one_branch_is_new_is_drawn_as_a_block_of_the_others() -> None:
    from stagec.ir.graph import build

    def side(count: int) -> Picture:
        names = [f"n{at}" for at in range(count)]
        nodes = [f"a: {' & '.join(names)} > z", *(f"{name}: done" for name in names), "z: done"]
        return draw_graph(build(flow(*nodes)), (), {})

    picture = lay_over(side(14), side(15), Told(), "main")
    layout = lay_out(picture)
    frames = list(layout.frames.values())
    assert len(frames) == len(picture.boxes)
    assert list_fates([picture]) == [Fate.ADDED, Fate.CHANGED] or list_fates([picture]) == [Fate.ADDED]
