"""What users write stays text in every format, and the same drawing gives the same bytes."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from colours import contrast
from jsonschema import Draft202012Validator

from stagec.core.shelf import member
from stagec.views import emitters
from stagec.views.emitters import Emitter, Picture, Role, Stroke
from stagec.views.emitters.mermaid import _LOOKS, _LOST

SCHEMA: Mapping[str, Any] = json.loads(
    (Path(__file__).parents[2] / "schemas" / "graph.schema.json").read_text(encoding="utf-8")
)
PRINTED = ("dot", "graphml", "mermaid", "json", "svg")
OPENING = r"(\(\[|\(\(\(|\(\(|\{\{|>|\[\[|\[\\|\[/|\[\(|\(|\[)"
CLOSING = r"(\]\)|\)\)\)|\)\)|\}\}|\]\]|/\]|\\\]|\)\]|\)|\])"
TEXT = r'"[^"<]*(<br/>[^"<]*)*"'
NODE = re.compile(rf"  p\dn\d+{OPENING}{TEXT}{CLOSING}")
LINE = re.compile(rf"  p\dn\d+ (==>|-->|==o|-\.-o|-\.->)(\|{TEXT}\|)? p\dn\d+")
REST = re.compile(
    rf'  (subgraph legend \["Legend"\]|direction LR|legend\w+\[{TEXT}\]|flowchart TB|subgraph p\d \["[^"<]*"\]'
    rf"|direction TB|end|p\dnote\[{TEXT}\]:::is-note|class [\w,]+ is-[\w-]+"
    r"|(classDef is-[\w-]+|linkStyle [\d,]+|style (p\d|legend)) [\w#:,. -]+)"
)


def emitted(form: str, *pictures: Picture) -> str:
    return member(emitters, form, Emitter).emit(pictures).decode()


def laid_out(text: str) -> str:
    ended = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, b"")
    return ended.stdout.decode()


@pytest.mark.needs("dot")
def test_dot_reads_what_is_written_for_it_whatever_the_names(hostile: Picture) -> None:
    nodes = re.findall(r'class="node">\n<title>p0_\d+</title>', laid_out(emitted("dot", hostile)))
    assert len(nodes) == len(hostile.boxes)


def test_mermaid_sees_nodes_and_lines_whatever_the_names(hostile: Picture) -> None:
    rows = [f"  {row.strip()}" for row in emitted("mermaid", hostile).splitlines()]
    assert [row for row in rows if not any(each.fullmatch(row) for each in (NODE, LINE, REST))] == []
    assert sum(bool(NODE.fullmatch(row)) for row in rows) == len(hostile.boxes)


def test_json_keeps_every_name_as_it_is(hostile: Picture) -> None:
    told = json.loads(emitted("json", hostile))
    Draft202012Validator(SCHEMA).validate(told)
    assert [box["name"] for box in told["flows"][0]["boxes"]] == [box.name for box in hostile.boxes.values()]


@pytest.mark.parametrize("form", PRINTED)
def test_no_text_commands_a_terminal_or_a_build_service(form: str, hostile: Picture) -> None:
    text = emitted(form, hostile)
    assert [each for each in text if not each.isprintable() and each not in "\n\xa0"] == []
    assert "##[" not in text
    assert "##vso[" not in text


def test_long_names_are_shortened_where_people_read_them(hostile: Picture) -> None:
    assert max(map(len, (emitted(form, hostile) for form in ("dot", "mermaid")))) < 20_000


@pytest.mark.parametrize("form", PRINTED)
def test_the_same_drawing_gives_the_same_bytes(form: str, every: Picture) -> None:
    assert emitted(form, every) == emitted(form, every)


def test_every_role_and_stroke_has_a_look_of_its_own(every: Picture) -> None:
    text = emitted("dot", every)
    looks = [
        re.sub(r'label=<.*?>(?=, |\])|"#\w+"', "", row)
        for row in text.splitlines()
        if re.match(r"  l\d+ \[label", row.strip().rjust(len(row)))
    ]
    assert len(looks) == len(set(looks))


def test_shapes_and_strokes_are_in_the_legend(every: Picture) -> None:
    legend = emitted("dot", every).partition("cluster_legend")[2]
    assert all(told in legend for told in ("start of a run", "end: done", "mystery", "waits for all", "never reached"))
    assert legend.count("shape=plaintext") == len(Stroke)


def test_a_drawing_has_a_page_of_its_own_so_that_it_is_read_on_any(every: Picture) -> None:
    assert 'bgcolor="#ffffff"' in emitted("dot", every)


def test_what_no_run_reaches_and_what_is_missing_is_red_and_dashed(every: Picture) -> None:
    rows = emitted("dot", every).splitlines()
    red = [row for row in rows if "#b91c1c" in row and "dashed" in row and "cluster" not in row]
    assert any("<b>lost</b>" in row for row in red)
    assert any("<b>no such name: missing</b>" in row for row in red)
    assert sum("->" in row for row in red) == 2


@pytest.mark.parametrize("form", ["dot", "mermaid"])
def test_several_flows_are_in_one_text(form: str, every: Picture) -> None:
    text = emitted(form, every, every)
    assert [
        text.count(f"subgraph {name}") for name in (("cluster_p0", "cluster_p1") if form == "dot" else ("p0", "p1"))
    ] == [1, 1]


def test_the_schema_is_one_and_names_every_role_and_stroke() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$defs"]["box"]["properties"]["role"]["enum"] == [role.value for role in Role]
    assert SCHEMA["$defs"]["line"]["properties"]["stroke"]["enum"] == [stroke.value for stroke in Stroke]


GROUNDS = ("#ffffff", "#0d1117")
"""Of pages of code hosts, light and dark."""


@pytest.mark.parametrize("ground", GROUNDS)
def test_colours_of_mermaid_can_be_read_on_light_and_dark_pages(ground: str) -> None:
    looks = {name: dict(each.split(":") for each in look.split(",")) for name, look in _LOOKS.items()}
    states = {name: looks.pop(name) for name in ("doubtful", "faulty", "unreached")}
    for name, look in looks.items():
        assert contrast(look["color"], look["fill"]) >= 4.5, name
        assert max(contrast(look[part], ground) for part in ("fill", "stroke")) >= 3, name
        for state in states.values() if name != "start" else ():  # runs come there
            assert contrast(state["stroke"], state.get("fill", look["fill"])) >= 3, name
            assert contrast(look["color"], state.get("fill", look["fill"])) >= 4.5, name
    for colour in (_LOST.partition(":")[2][:7], *(state["stroke"] for state in states.values())):
        assert contrast(colour, ground) >= 3, colour
