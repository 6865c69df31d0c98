"""However many names are wrong, what they are compared with is indexed a fixed number of times."""

from __future__ import annotations

from pathlib import Path

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.core import nearest
from stagec.sources.project.settings import Settings
from stagec_dev.cost import Dimension
from stagec_dev.tools.scaling import dimensions

_FAULTY = (
    *("hand-off fields", "undeclared hand-off fields", "paths into one object", "paths of cases", "terms of a case"),
    *("checks", "values of a case", "conditional cases", "placeholders", "names of the context", "allowed tools"),
    *("variables", "inputs", "misspelt targets", "prompts of steps", "validators", "failure patterns"),
)


@pytest.mark.parametrize("title", _FAULTY)
def test_indexes_are_made_as_often_for_many_faults_as_for_few(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []

    class Counted(nearest._FirstTwo):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr(nearest, "_FirstTwo", Counted)
    dimension = next(each for each in dimensions() if each.title == title)
    few, many = (_indexed(dimension, count, tmp_path / str(count), made) for count in (20, 80))
    assert many <= few


def _indexed(dimension: Dimension, count: int, folder: Path, made: list[object]) -> int:
    for name, text in dimension.files(count, faulty=True).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    made.clear()
    assert compile_project(Project(folder, (folder,), Settings())).diagnostics
    return len(made)
