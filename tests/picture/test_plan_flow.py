"""The drawing that is made of a plan shows what the drawing of its project does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.ir.graph import build
from stagec.sources.project.configuration import configure
from stagec.views.picture.document import Picture
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
