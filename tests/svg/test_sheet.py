"""A file in SVG says everything without a script, to readers who see it and to those who do not."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from stagec.core.diagnostic import Severity
from stagec.core.value import replace
from stagec.core.words import visible
from stagec.views.picture.document import Box, Line, Picture, Role, Stroke
from stagec.views.svg.sheet import describe, sheet

SVG = "{http://www.w3.org/2000/svg}"
KNOWN = {"svg", "title", "desc", "style", "defs", "marker", "g", "path", "rect", "text"}


def read(*pictures: Picture) -> ET.Element:
    return ET.fromstring(sheet(pictures))


def texts(root: ET.Element, name: str) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}{name}")]


def test_whatever_things_are_called_the_file_has_the_same_elements_and_no_address(hostile: Picture) -> None:
    root = read(hostile)
    assert {each.tag.removeprefix(SVG) for each in root.iter()} == KNOWN
    assert {name for each in root.iter() for name in each.attrib if name.startswith("on") or "href" in name} == set()
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg\")|@import|url\((?!#)", sheet((hostile,))) == []


def test_the_whole_name_is_the_title_of_its_box(hostile: Picture) -> None:
    titles = [each.splitlines()[0] for each in texts(read(hostile), "title") if each]
    for box in hostile.boxes.values():
        assert visible(box.name[:2_000]).strip() in {"", *(each.strip() for each in titles)}


def test_readers_who_do_not_see_it_hear_what_it_shows(every: Picture) -> None:
    root = read(every)
    assert root.attrib["role"] == "img"
    assert [each.attrib.get("id") for each in root][:2] == ["title", "desc"]
    assert root.attrib["aria-labelledby"].split() == ["title", "desc"]
    (told,) = texts(root, "desc")
    assert told.startswith(
        "every: 10 nodes, 9 lines; runs start at: start; never reached: lost; no such name: missing; "
    )
    assert told.endswith("2 errors; 1 warning; 1 note")


def test_many_names_are_counted_in_the_description() -> None:
    boxes = {str(at): Box(str(at), f"n{at}", Role.NODE, is_reached=False) for at in range(20)}
    assert describe(Picture("p", "p", boxes, ())).endswith("n7, 12 more")


def test_titles_remarks_and_what_belongs_to_no_box_are_above_the_drawing(every: Picture) -> None:
    from emitters.conftest import diagnostic

    found = tuple(diagnostic(Severity.ERROR, f"rule-{at}") for at in range(15))
    rows = texts(read(replace(every, title="word " * 60, found=found)), "text")
    assert " ".join(rows[: rows.index("a remark")]).split() == ["word"] * 60
    assert "✗ STG999 rule-0, rule-0:1:1" in rows
    assert "… and 3 more" in rows


def test_everything_is_within_the_file_and_no_strip_lies_on_another(every: Picture) -> None:
    root = read(every, every)
    height = float(root.attrib["height"])
    strips = [each for each in root if each.tag == f"{SVG}g"]
    tops = [float(re.findall(r"translate\(0 ([\d.]+)\)", each.attrib["transform"])[0]) for each in strips]
    assert tops == sorted(tops)
    assert len(tops) == 5
    assert tops[-1] < height


@pytest.mark.parametrize(
    "lines",
    [
        (),
        (Line("a", "a", Stroke.GO, ("again",)),),
        (Line("a", "b", Stroke.GO), Line("a", "b", Stroke.FORK), Line("b", "a", Stroke.GO), Line("c", "c", Stroke.END)),
    ],
    ids=["apart", "itself", "parallel"],
)
def test_lines_of_any_manner_are_drawn(lines: tuple[Line, ...]) -> None:
    boxes = {name: Box(name, name, Role.NODE) for name in "abc"}
    drawn = [
        each
        for each in read(Picture("p", "p", boxes, lines)).iter(f"{SVG}path")
        if "marker-start" in each.attrib or "marker-end" in each.attrib
    ]
    legend = len({line.stroke for line in lines})
    assert len(drawn) == len(lines) + legend


def test_a_flow_of_nothing_and_no_flow_are_files_as_well() -> None:
    assert "(empty)" in texts(read(Picture("", "", {}, ())), "text")
    assert read().tag == f"{SVG}svg"


def test_colours_stand_where_they_are_used_because_many_programs_know_no_variables(every: Picture) -> None:
    text = sheet((every,))
    assert "var(" not in text
    assert "--" not in text


def test_a_browser_shows_the_examples_as_images(
    chromium: Any, tmp_path: Path, pictures: Callable[[str], tuple[Picture, ...]]
) -> None:
    for name in ("code-review", "broken-on-purpose"):
        (tmp_path / f"{name}.svg").write_text(sheet(pictures(name)), encoding="utf-8")
    (tmp_path / "page.html").write_text(
        '<!DOCTYPE html><img src="code-review.svg"><img src="broken-on-purpose.svg">', encoding="utf-8"
    )
    chromium.open(tmp_path / "page.html")
    assert chromium.value("[...document.images].map(each => each.complete && each.naturalWidth > 300)") == [True, True]
    assert chromium.complaints() == []
