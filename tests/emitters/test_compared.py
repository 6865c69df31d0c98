"""Drawings of two sides: every format shows by signs and strokes, not by colour alone, what has become of each part."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft202012Validator

from stagec.core.shelf import member, members
from stagec.views import emitters
from stagec.views.emitters import Box, Emitter, Fate, Line, Picture, Role, Stroke
from stagec.views.svg.drawing import read_colours, read_style

SCHEMA = Path(__file__).parents[2] / "schemas" / "graph.schema.json"
TEXTS = [each.name for each in members(emitters, Emitter) if each.is_text]


@pytest.fixture
def compared() -> Picture:
    boxes = {
        name: Box(name, f"node {name}", Role.NODE, fate=fate, changes=changes)
        for name, fate, changes in (
            ("same", Fate.SAME, ()),
            ("new", Fate.ADDED, ()),
            ("gone", Fate.REMOVED, ()),
            ("other", Fate.CHANGED, ("turns 20 to 30", "prompt changed\n- Be brief.\n+ Be kind.")),
        )
    }
    lines = (
        Line("same", "new", Stroke.GO, ("ok",), fate=Fate.ADDED),
        Line("same", "gone", Stroke.GO, ("ok",), fate=Fate.REMOVED),
        Line("same", "other", Stroke.GO, ("kept", "fresh"), fate=Fate.CHANGED, before=("kept", "stale")),
        Line("same", "same", Stroke.GO, ("again",), fate=Fate.SAME),
    )
    changes = ("~ node executions 8 to 9",)
    return Picture("flow", "flow", boxes, lines, ("compared with main",), (), Fate.CHANGED, changes)


def emit(name: str, picture: Picture) -> str:
    return member(emitters, name, Emitter).emit((picture,)).decode()


@pytest.mark.parametrize("name", TEXTS)
def test_everything_that_has_changed_is_said_in_words(name: str, compared: Picture) -> None:
    text = emit(name, compared).replace("#43;", "+").replace("#126;", "~").replace("<br/>", " ")
    for told in ("added", "removed", "changed", "turns 20 to 30", "prompt changed", "node executions 8 to 9"):
        assert told in text, told
    assert "compared with main" in text
    if name not in {"json", "graphml"}:
        for label in ("+ ok", "- ok", "- stale", "+ fresh", "kept", "again"):
            assert label in text, label


@pytest.mark.parametrize("name", TEXTS)
def test_drawings_of_one_side_speak_of_no_change(name: str) -> None:
    text = emit(name, Picture("flow", "flow", {"a": Box("a", "a", Role.NODE)}, ()))
    assert not re.search(r"\bis-(same|added|removed)\b|class=\"[^\"]*\b(same|added|removed)\b|\"fate\"\s*:", text)


@pytest.mark.parametrize(
    ("name", "sample"),
    [
        ("dot", r's0a -> s0b \[color="#6b7280", arrowhead'),
        ("svg", 'class="line go same"'),
        ("html", 'class="line go same"'),
    ],
)
def test_lines_of_the_legend_look_as_what_has_not_changed(name: str, sample: str, compared: Picture) -> None:
    legend = re.findall(r"s\d+a -> s\d+b .*|<path[^>]* d=\"M0 11H[^>]*>", emit(name, compared))
    assert len(legend) == 1
    assert re.search(sample, legend[0])


def test_strokes_and_borders_of_mermaid_differ_without_colours(compared: Picture) -> None:
    text = re.sub(r"#[0-9a-f]{6}", "", emit("mermaid", compared))
    looks = re.findall(r"classDef is-(?:same|added|removed|changed) (.*)", text)
    strokes = re.findall(r"linkStyle [\d,]+ (.*)", text)
    assert (len(looks), len(set(looks))) == (4, 4)
    assert (len(strokes), len(set(strokes))) == (3, 3)


def test_strokes_and_borders_of_dot_differ_without_colours(compared: Picture) -> None:
    text = re.sub(r"#[0-9a-f]{6}", "", emit("dot", compared))
    rows = [row for row in text.splitlines() if row.lstrip().startswith("p0_")]
    boxes = {re.sub(r"label=<.*>, ", "", row.partition("[")[2]) for row in rows if " -> " not in row}
    lines = {re.sub(r"label=<.*>, ", "", row.partition("[")[2]) for row in rows if " -> " in row}
    assert (len(boxes), len(lines)) == (4, 4)
    styles = [re.findall(r'style="(?:filled,?)?(\w*)"', row) for row in rows]
    assert styles == [[""], [""], ["dashed"], ["dotted"], [], ["dashed"], ["dotted"], []]


def test_strokes_and_borders_of_svg_differ_without_colours(compared: Picture) -> None:
    style = read_style((compared,))
    for what in ("box", "line"):
        own = re.findall(rf"^\.{what}\.(?:added|removed|changed)(?: \.shape)? \{{(.*)\}}$", style, re.MULTILINE)
        bare = {re.sub(r"(fill|stroke): [^;]*;", "", each).strip() for each in own}
        assert (len(own), len(bare)) == (3, 3)
    root = ET.fromstring(emit("svg", compared))
    titles = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any("Be brief." in title and "~ changed" in title for title in titles)


def test_every_colour_of_changes_is_there_for_light_and_dark(compared: Picture) -> None:
    light, dark = read_colours(read_style((compared,)))
    for fate in ("added", "removed", "changed", "same"):
        assert light[f"--{fate}"] != dark[f"--{fate}"]


def test_programs_are_told_the_same(compared: Picture) -> None:
    made = json.loads(emit("json", compared))
    assert list(Draft202012Validator(json.loads(SCHEMA.read_bytes())).iter_errors(made)) == []
    (flow,) = made["flows"]
    assert flow["fate"] == "changed"
    assert {box["id"]: box["fate"] for box in flow["boxes"]} == {
        "same": "same", "new": "added", "gone": "removed", "other": "changed",
    }  # fmt: skip
    assert flow["lines"][2] | {"found": []} == {
        "source": "same", "target": "other", "stroke": "go", "labels": ["kept", "fresh"], "guess": False,
        "fate": "changed", "before": ["kept", "stale"], "found": [],
    }  # fmt: skip
    assert '<data key="edge.before">kept\nstale</data>' in emit("graphml", compared).replace("&#10;", "\n")
