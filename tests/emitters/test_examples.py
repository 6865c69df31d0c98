"""The examples are drawn as the goldens beside this file show; one that is not there is written, and fails once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from stagec.core.shelf import member
from stagec.core.value import replace
from stagec.views import emitters
from stagec.views.emitters import Emitter, Picture

Pictures = Callable[[str], tuple[Picture, ...]]
TOP = Path(__file__).parents[2]
GOLDENS = Path(__file__).parent / "goldens"
EXAMPLES = (
    "broken-on-purpose",
    "code-review",
    "docs-repair",
    "file-review",
    "guest-book",
    "issue-flow",
    "project-flow",
    "reviewed-change",
    "support-desk",
    "wine-quality",
)


@pytest.mark.parametrize("form", ["dot", "graphml", "mermaid"])
@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_drawn_as_the_golden_shows(pictures: Pictures, example: str, form: str) -> None:
    emitter = member(emitters, form, Emitter)
    golden = GOLDENS / f"{example}{emitter.suffix}"
    drawn = emitter.emit(pictures(example))
    if not golden.exists():
        golden.write_bytes(drawn)
        pytest.fail(f"{golden.name} was not there and is written now: look at it")
    assert drawn.decode() == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_as_json_keeps_the_promises_of_the_schema(pictures: Pictures, example: str) -> None:
    told = json.loads(member(emitters, "json", Emitter).emit(pictures(example)))
    schema = json.loads((TOP / "schemas" / "graph.schema.json").read_bytes())
    assert list(Draft202012Validator(schema).iter_errors(told)) == []


def test_the_examples_are_all_of_the_examples() -> None:
    assert sorted(each.name for each in (TOP / "registries").iterdir() if each.is_dir()) == sorted(EXAMPLES)


def test_the_boxes_of_inner_flows_are_in_areas(pictures: Pictures) -> None:
    (picture,) = (each for each in pictures("reviewed-change") if each.id == "reviewed-change")
    assert {box.name for box in picture.boxes.values() if box.area} == {
        *("review/check", "review/correctness", "review/security", "review/judge"),
    }
    drawn = {name: member(emitters, name, Emitter).emit((picture,)).decode() for name in ("svg", "html", "json")}
    assert drawn["svg"].count('<g class="area">') == 1
    assert "<title>review: pipeline review\ngoal = ctx.task</title>" in drawn["svg"]
    assert "review: pipeline review</text>" in drawn["svg"]
    assert '<g class="areas">' in drawn["html"]
    assert drawn["json"].count('"area": "review"') == 4


def move(picture: Picture, names: set[str], area: str) -> Picture:
    """Return a drawing in which some nodes are in another area."""
    boxes = {each: replace(box, area=area if box.name in names else box.area) for each, box in picture.boxes.items()}
    return replace(picture, boxes=boxes)


def test_an_area_that_would_cover_a_box_of_the_flow_around_it_has_no_border(pictures: Pictures) -> None:
    (picture,) = (each for each in pictures("reviewed-change") if each.id == "reviewed-change")
    left = move(picture, {"review/correctness"}, "")  # between two that are in the area
    assert '<g class="area">' not in member(emitters, "svg", Emitter).emit((left,)).decode()


def test_areas_are_in_each_other(pictures: Pictures) -> None:
    (picture,) = (each for each in pictures("reviewed-change") if each.id == "reviewed-change")
    areas = {**picture.areas, "review/deep": "deep: pipeline deep", "none": "none"}
    nested = replace(move(picture, {"review/check"}, "review/deep"), areas=areas)
    svg, dot, mermaid = (member(emitters, name, Emitter).emit((nested,)).decode() for name in ("svg", "dot", "mermaid"))
    assert svg.count('<g class="area">') == 2
    lines = [line.strip() for line in dot.splitlines()]
    first, second = lines.index("subgraph cluster_p0_a0 {"), lines.index("subgraph cluster_p0_a1 {")
    assert lines[first:second].count("}") == 0  # the second is in the first
    assert "a2" not in dot
    rows = [row.strip() for row in mermaid.splitlines()]
    assert rows.index('subgraph p0a0 ["review: pipeline review, goal = ctx.task"]') < rows.index(
        'subgraph p0a1 ["deep: pipeline deep"]'
    )
    assert rows.count("end") == 3
