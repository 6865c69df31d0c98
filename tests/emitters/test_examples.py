"""The examples are drawn as the goldens beside this file show; one that is not there is written, and fails once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from stagec.core.shelf import member
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
