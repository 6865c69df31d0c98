"""The same project gives the same bytes, whatever is around it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest
from campaigns import choose

from stagec.check import reporters
from stagec.core.shelf import names

TOP = Path(__file__).parents[2]
SEEDS = range(choose(1, whole=10))
PYTHONS = tuple(filter(None, os.environ.get("STAGEC_PYTHONS", "").split(os.pathsep))) or (sys.executable,)
"""Pythons that `STAGEC_PYTHONS` names; each has stagec's dependencies installed."""

Usual = Callable[[str], bytes]
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


@pytest.fixture(scope="module")
def usual(project: Path) -> Usual:
    """Return what is said in the locale C, in a format."""
    return cache(partial(said, project))


@formats
def test_the_hash_seed_does_not_matter(project: Path, usual: Usual, style: str) -> None:
    assert {said(project, style, PYTHONHASHSEED=str(seed)) for seed in SEEDS} == {usual(style)}


@formats
def test_the_locale_does_not_matter(project: Path, usual: Usual, style: str) -> None:
    assert said(project, style, LC_ALL="C.UTF-8") == usual(style)


@formats
def test_of_the_working_directory_only_the_way_to_files_depends(
    project: Path, usual: Usual, style: str, tmp_path: Path
) -> None:
    way = f"{os.path.relpath(project, tmp_path)}/".encode()
    assert said(project, style, cwd=tmp_path).replace(way, b"") == usual(style)


@formats
def test_the_order_in_which_files_were_made_does_not_matter(
    project: Path, usual: Usual, style: str, tmp_path: Path
) -> None:
    files = sorted(path for path in project.rglob("*") if path.is_file())
    for number, order in enumerate((files[::-1], sorted(files, key=lambda path: path.name[::-1]))):
        copy = tmp_path / str(number) / "project"
        for path in order:
            target = copy / path.relative_to(project)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    copies = [tmp_path / str(number) / "project" for number in range(2)]
    assert {said(copy, style) for copy in copies} == {usual(style)}


@formats
def test_the_python_does_not_matter(project: Path, usual: Usual, style: str) -> None:
    assert {said(project, style, python=python) for python in PYTHONS} == {usual(style)}


def test_the_tests_would_notice(usual: Usual) -> None:
    """The two formats differ, so equal output above is no accident of an empty report."""
    assert usual("json") != usual("text")
