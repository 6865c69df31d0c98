"""A new member of every shelf, begun in a copy of the checkout: sound but for the marks, and its test fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from stagec_dev.checkout import ROOT
from stagec_dev.scaffold import MARK

NAMES = {
    "rule": ("STG199", "never-seen-before"),
    "format": ("never-seen",),
    "frontend": ("never-seen",),
    "reporter": ("never-seen",),
    "emitter": ("never-seen",),
    "command": ("never",),
}
LAWS = ("laws/test_sizes.py", "laws/test_words.py", "laws/test_imports.py")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the checkout without what tools leave behind."""
    target = tmp_path_factory.mktemp("copy") / "checkout"
    left = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "examples", "hostile")
    shutil.copytree(ROOT, target, ignore=left)
    return target


def run(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(copy / "compiler"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_ADDOPTS", None)
    argv = [sys.executable, "-m", *words]
    return subprocess.run(argv, cwd=copy, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def written(copy: Path) -> dict[str, list[Path]]:
    """Begin one member of every shelf and return the files of each."""
    files: dict[str, list[Path]] = {}
    for shelf, words in NAMES.items():
        ended = run(copy, "stagec_dev", "new", shelf, *words)
        assert ended.returncode == 0, ended.stderr
        files[shelf] = [copy / line for line in ended.stdout.splitlines()[:-1]]
    return files


@pytest.mark.parametrize("shelf", NAMES)
def test_a_member_is_two_files_with_marks(written: dict[str, list[Path]], shelf: str) -> None:
    assert [MARK in path.read_text(encoding="utf-8") for path in written[shelf]] == [True, True]


def test_what_is_written_satisfies_the_linter(copy: Path, written: dict[str, list[Path]]) -> None:
    paths = [str(path) for files in written.values() for path in files if path.suffix == ".py"]
    checked = run(copy, "ruff", "check", "--no-cache", *paths)
    assert checked.returncode == 0, checked.stdout
    formatted = run(copy, "ruff", "format", "--no-cache", "--check", *paths)
    assert formatted.returncode == 0, formatted.stdout


def test_what_is_written_satisfies_the_type_checker(copy: Path, written: dict[str, list[Path]]) -> None:
    paths = [str(files[0].relative_to(copy)) for files in written.values()]
    ended = run(copy, "mypy", "--follow-imports=silent", "--cache-dir", str(copy / "types"), *paths)
    assert ended.returncode == 0, ended.stdout


def test_what_is_written_keeps_the_laws_but_for_the_marks(copy: Path, written: dict[str, list[Path]]) -> None:
    laws = [f"tests/{law}" for law in LAWS]
    ended = run(copy, "pytest", "-q", "-p", "no:cacheprovider", "-n0", *laws, "-k", "never or contracts or filled")
    failed = [line for line in ended.stdout.splitlines() if line.startswith("FAILED")]
    assert [line.partition("::")[2].partition(" ")[0] for line in failed] == ["test_nothing_is_left_to_be_filled_in"], (
        ended.stdout
    )


@pytest.mark.parametrize("shelf", NAMES)
def test_the_test_that_is_written_fails(copy: Path, written: dict[str, list[Path]], shelf: str) -> None:
    ended = run(copy, "pytest", "-q", "-p", "no:cacheprovider", "-n0", str(written[shelf][1]))
    assert ended.returncode == 1, ended.stdout
    assert "error" not in ended.stdout.splitlines()[-1]


def test_a_taken_code_is_refused(copy: Path, written: dict[str, list[Path]]) -> None:
    ended = run(copy, "stagec_dev", "new", "rule", "STG199", "other-name")
    assert (ended.returncode, ended.stderr) == (2, "STG199 is 'never-seen-before' already\n")


def test_a_shelf_that_does_not_exist_is_refused(copy: Path) -> None:
    ended = run(copy, "stagec_dev", "new", "layer", "dot")
    assert (ended.returncode, ended.stderr) == (
        2,
        (
            "there is no shelf of layers to put something into; "
            "there are 'command', 'emitter', 'format', 'frontend', 'reporter' and 'rule'\n"
        ),
    )


def test_a_file_is_never_overwritten(copy: Path, written: dict[str, list[Path]]) -> None:
    ended = run(copy, "stagec_dev", "new", "command", "never")
    assert (ended.returncode, ended.stderr) == (2, "compiler/stagec/cli/commands/never.py is there already\n")
