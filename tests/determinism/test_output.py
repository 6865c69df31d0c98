"""The same project gives the same bytes, whatever is around it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from campaigns import choose

from stagec.check import reporters
from stagec.core.shelf import names

TOP = Path(__file__).parents[2]
SEEDS = range(choose(2, whole=10))
LOCALES = ("C", "C.UTF-8")
PYTHONS = (sys.executable, *filter(None, os.environ.get("STAGEC_PYTHONS", "").split(os.pathsep)))
"""This Python, and those that `STAGEC_PYTHONS` names; each has stagec's dependencies installed."""

formats = pytest.mark.parametrize("style", names(reporters))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with clean and broken registries in it."""
    target = tmp_path_factory.mktemp("determinism") / "project"
    shutil.copytree(TOP / "registries", target)
    for copy in range(3):
        shutil.copytree(TOP / "registries" / "broken-on-purpose", target / f"copy-{copy}")
    return target


def said(project: Path, style: str, *, python: str = sys.executable, cwd: Path | None = None, **around: str) -> bytes:
    """Return what `validate` prints about a project; it must find something."""
    environment = {"PYTHONPATH": str(TOP / "compiler"), "PATH": os.environ["PATH"], "PYTHONUTF8": "1", **around}
    argv = [python, "-m", "stagec", "validate", str(project), "--root", str(project), "--format", style]
    ended = subprocess.run(argv, cwd=cwd or project, env=environment, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, b"")
    assert b"STG" in ended.stdout
    return ended.stdout


@formats
def test_the_hash_seed_does_not_matter(project: Path, style: str) -> None:
    assert len({said(project, style, PYTHONHASHSEED=str(seed)) for seed in SEEDS}) == 1


@formats
def test_the_locale_does_not_matter(project: Path, style: str) -> None:
    assert len({said(project, style, LC_ALL=name) for name in LOCALES}) == 1


@formats
def test_of_the_working_directory_only_the_way_to_files_depends(project: Path, style: str, tmp_path: Path) -> None:
    way = f"{os.path.relpath(project, tmp_path)}/".encode()
    assert said(project, style, cwd=tmp_path).replace(way, b"") == said(project, style)


@formats
def test_the_order_in_which_files_were_made_does_not_matter(project: Path, style: str, tmp_path: Path) -> None:
    files = sorted(path for path in project.rglob("*") if path.is_file())
    for number, order in enumerate((files, files[::-1], sorted(files, key=lambda path: path.name[::-1]))):
        copy = tmp_path / str(number) / "project"
        for path in order:
            target = copy / path.relative_to(project)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    copies = [tmp_path / str(number) / "project" for number in range(3)]
    assert {said(copy, style) for copy in copies} == {said(project, style)}


@formats
@pytest.mark.parametrize("python", PYTHONS)
def test_the_python_does_not_matter(project: Path, style: str, python: str) -> None:
    assert said(project, style, python=python) == said(project, style)


def test_the_tests_would_notice(project: Path) -> None:
    """The two formats differ, so equal output above is no accident of an empty report."""
    run = partial(said, project)
    assert run("json") != run("text")
