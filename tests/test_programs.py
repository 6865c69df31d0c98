"""A test finds the programs that it says it needs, and no others; a failure of one test is none of another."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
SESSION = """
import gc, subprocess
import browser, postgres, programs, pytest

def draw():
    subprocess.run(["sh", "-c", "dot"], check=True)

def test_that_draws():
    draw()

@pytest.mark.needs("fish")
def test_that_says_something_else():
    draw()

@pytest.mark.needs("dot")
def test_that_says_so():
    draw()

@pytest.fixture
@programs.starts("dot")
def drawing():
    draw()

def test_with_a_fixture_that_says_so(drawing):
    draw()

def test_that_comes_later():
    draw()

@pytest.mark.needs("dot", "git")
def test_that_says_what_is_missing():
    draw()

def test_that_starts_a_server():
    postgres.open_own().__enter__()

def test_that_starts_a_browser(tmp_path):
    browser.Browser(tmp_path)

def test_that_misspells():
    programs.find("dott")

def test_that_leaves_a_file_open():
    held = [open(__file__)]
    held.append(held)
    assert not held

def test_that_finds_garbage():
    gc.collect()
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Run a small session with the hooks of all tests, on a machine with nothing else than `dot` and `fish`."""
    folder = tmp_path_factory.mktemp("session")
    for name in ("dot", "fish"):
        (folder / name).write_text("#!/bin/sh\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    (folder / "test_few.py").write_text(SESSION, encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "-rA", "--tb=line", "-p", "conftest", "-p", "no:cacheprovider",
         f"--config-file={TOP / 'pyproject.toml'}", f"--rootdir={folder}", "test_few.py"],
        cwd=folder,
        env={
            "PATH": f"{os.environ['PATH']}:{folder}",
            "PYTHONPATH": f"{TOP / 'tests'}:{TOP / 'compiler'}",
            "HOME": str(folder),
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.stderr == ""
    return ended.stdout


def list_tests(outcome: str, told: str) -> set[str]:
    return {each.replace("_", " ") for each in re.findall(rf"^{outcome} test_few\.py::test_(\w+)", told, re.MULTILINE)}


def test_whoever_starts_a_program_must_say_so(told: str) -> None:
    assert list_tests("PASSED", told) == {"that says so", "with a fixture that says so", "that finds garbage"}
    assert list_tests("FAILED", told) == {
        "that draws",
        "that says something else",
        "that comes later",
        "that starts a server",
        "that starts a browser",
        "that misspells",
        "that leaves a file open",
    }
    assert "a test that starts postgres must have the marker needs('postgres')" in told
    assert "a test that starts chromium must have the marker needs('chromium')" in told


def test_what_is_missing_is_the_reason_of_a_skip(told: str) -> None:
    assert re.findall(r"^SKIPPED .*?: (.*)$", told, re.MULTILINE) == ["the program git is not installed"]


def test_a_bare_machine_has_a_shell_coreutils_and_python(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(TOP / "tests" / "programs.py"), str(tmp_path / "bin")], check=True)
    asked = 'for each in sh cat python3 git dot bash; do command -v "$each"; done; python3 -c "import ssl, venv"'
    ended = subprocess.run(
        [tmp_path / "bin" / "sh", "-c", asked], env={"PATH": str(tmp_path / "bin")}, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert ended.stdout.split() == [str(tmp_path / "bin" / name) for name in ("sh", "cat", "python3")]
