"""The drawing that is made of a plan shows what the drawing of its project does."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random

import handmade
import phased
import pytest
from properties.test_pipelines import machine, stage

from stagec.check.pipeline import Project, compile_project
from stagec.core.value import replace
from stagec.ir.graph import build
from stagec.sources.project.configuration import configure
from stagec.sources.project.settings import Settings
from stagec.views.picture.document import INTERRUPTED, Picture, Stroke, box_of
from stagec.views.picture.draw import draw
from stagec.views.picture.plan_flow import make_flow

EXAMPLES = Path(__file__).parents[2] / "registries"
NO_RUN_KNOWS = {"critical path", "inferred"}
"""What is said of needs beside the plan: how long they are meant to take, and why they are there."""


def lines(picture: Picture) -> set[tuple[str, str, str, tuple[str, ...]]]:
    return {
        (each.source, each.target, each.stroke, tuple(told for told in each.labels if told not in NO_RUN_KNOWS))
        for each in picture.lines
    }


@pytest.mark.parametrize("name", ["code-review", "docs-repair", "wine-quality", "issue-flow", "project-flow"])
def test_a_plan_is_drawn_as_its_project(name: str) -> None:
    configuration = configure((EXAMPLES / name,), None, {}, os.environ)
    compilation = compile_project(Project(configuration.root, (EXAMPLES / name,), configuration.settings))
    for meaning in compilation.meanings:
        of_project = draw(build(meaning.flow), (), {})
        of_plan = draw(build(make_flow(meaning.plan())), (), {})
        assert [(each.id, each.kind, each.is_join) for each in of_plan.boxes.values()] == [
            (each.id, each.kind, each.is_join) for each in of_project.boxes.values()
        ]
        assert lines(of_plan) == lines(of_project)


FORK_OF_ONE = {"stages": ["b"], "join": "c", "execution": "parallel"}
ONE = {"id": "one", "entry": "a", "stages": [{**stage("a"), "next": [FORK_OF_ONE]}, stage("b"), stage("c")]}


TIMED = {**ONE, "runDeadline": "2h", "deadline": {"b": "30m"}}


@pytest.mark.parametrize("given", [ONE, TIMED, *(machine(Random(seed)) for seed in range(6))])
def test_a_plan_of_any_pipeline_is_drawn_as_its_project(given: object, tmp_path: Path) -> None:
    files = {"pipeline.json": json.dumps(given).encode()}
    (meaning,) = compile_project(Project(tmp_path, (tmp_path / "pipeline.json",), Settings(), files)).meanings
    of_plan, of_project = draw(build(make_flow(meaning.plan())), (), {}), draw(meaning.graph, (), {})
    assert lines(of_plan) == lines(of_project)
    assert of_plan.remarks == of_project.remarks
    assert [each.notes for each in of_plan.boxes.values()] == [each.notes for each in of_project.boxes.values()]


def test_a_phase_that_blocks_ends_the_run_as_blocked_in_the_drawing_of_a_plan() -> None:
    picture = draw(build(make_flow(phased.every_member())), (), {})
    assert (box_of("stuck"), INTERRUPTED, Stroke.END, ("blocked",)) in lines(picture)
    assert picture.boxes[INTERRUPTED].name == "blocked"


def test_the_stages_of_inner_pipelines_are_in_areas() -> None:
    plan = handmade.stages()
    first, *_ = plan.nodes
    nodes = {f"review/deep/{name}" if name == first else name: each for name, each in plan.nodes.items()}
    assert [*make_flow(replace(plan, nodes=nodes)).inner] == ["review", "review/deep"]
    assert [*make_flow(plan).inner] == []
