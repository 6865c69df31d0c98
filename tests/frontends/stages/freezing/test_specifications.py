"""Every pipeline among the examples of the rules' specifications that has no errors makes a plan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rules.conftest import _write

from stagec.check.pipeline import Meaning, Project, compile_project
from stagec.core.diagnostic import Severity
from stagec.ir.plan import dump, verify
from stagec.sources.project.settings import Settings
from stagec_dev.rule_pages import read_sections

RULES = Path(__file__).parents[3] / "rules"
LEAST = 80


def specifications() -> list[Path]:
    return [path for path in sorted(RULES.glob("*/stg*.md")) if " pipeline." in path.read_text(encoding="utf-8")]


def meanings(spec: Path, root: Path) -> Iterator[Meaning]:
    """Yield what the pipelines of a specification mean, of those of its examples that have no errors."""
    for index, section in enumerate(read_sections(spec)):
        folder = root / str(index)
        folder.mkdir()
        for block in section.inputs:
            _write(folder, block)
        found = compile_project(Project(folder, (), Settings()))
        if all(each.severity is not Severity.ERROR for each in found.diagnostics):
            yield from (each for each in found.meanings if each.flow.names["node"] == "stage")


@pytest.mark.parametrize("spec", specifications(), ids=lambda path: path.stem)
def test_an_example_without_errors_makes_a_plan(spec: Path, tmp_path: Path) -> None:
    for meaning in meanings(spec, tmp_path):
        plan = meaning.plan()
        assert verify(dump(plan)).plan == plan


def test_there_are_enough_of_them() -> None:
    assert len(specifications()) >= LEAST
