"""The end of the README's tour, carried out as it is written: a run is killed, resumed and replayed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
TOUR = re.search(r"```console\n(\$ stagec compile.*?)```", (TOP / "README.md").read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the examples, and with `stagec` on the way to programs."""
    shutil.copytree(TOP / "registries", tmp_path / "registries")
    command = tmp_path / "bin" / "stagec"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m stagec "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return tmp_path


def test_a_run_that_is_killed_is_resumed_and_replayed(folder: Path) -> None:
    assert TOUR is not None
    around = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(TOP / "compiler")}
    lines = [line.removeprefix("$ ") for line in TOUR[1].splitlines()]
    ended = [
        subprocess.run(("sh", "-c", line), cwd=folder, env=around, capture_output=True, text=True, check=False)
        for line in lines
    ]
    assert [each.returncode for each in ended] == [0, 137, 0, 0], [each.stderr for each in ended]
    before, after = ended[1].stdout.splitlines(), ended[2].stdout.splitlines()
    assert before
    assert after[-1] == "done: completed, 9 executions, 18 events"
    assert ended[3].stdout == "equal: 18 events, 9 executions, done: completed\n"
