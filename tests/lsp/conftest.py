"""An open workspace: projects on the disk, and texts of an editor."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from stagec.check.pipeline import Project
from stagec.cli.baselines import load_configured_baseline
from stagec.lsp.positions import Point, TextChange, TextLines
from stagec.lsp.workspace import CheckedProject, Workspace, list_findings
from stagec.sources.project.configuration import configure

EXAMPLES = Path(__file__).parents[2] / "registries"


def load(start: Path) -> Project:
    configuration = configure((start,))
    return Project(configuration.root, (), configuration.settings, baseline=load_configured_baseline(configuration))


class Editor:
    """A workspace with one folder, and what somebody does in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.workspace = Workspace(load)
        self.workspace.open_folders([str(folder)])

    def path(self, file: str) -> str:
        return str(self.folder / file)

    def open(self, file: str, text: str | None = None) -> str:
        shown = (self.folder / file).read_text(encoding="utf-8") if text is None else text
        self.workspace.open_text(self.path(file), shown)
        return shown

    def write(self, file: str, text: str) -> None:
        """Take another text for the one that is open."""
        self.workspace.change_text(self.path(file), [TextChange(text)])

    def check(self) -> CheckedProject:
        self.workspace.check()
        found = self.workspace.find_project(self.path("x"))
        assert found is not None
        return found

    def codes(self) -> dict[str, list[str]]:
        """Return the codes of the findings by file."""
        found = list_findings(self.workspace.check())
        return {os.path.relpath(path, self.folder): [one.code for one in each.found] for path, each in found.items()}


def point_at(text: str, where: str, offset: int = 0) -> Point:
    """Return the position at which a part of a text begins."""
    assert text.count(where) >= 1, where
    return TextLines(text).point(text.index(where) + offset)


@pytest.fixture
def edit(tmp_path: Path) -> Callable[[str], Editor]:
    """Open a copy of an example."""

    def start(example: str) -> Editor:
        folder = tmp_path / example
        shutil.copytree(EXAMPLES / example, folder)
        return Editor(folder)

    return start
