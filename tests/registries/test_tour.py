"""The tours of the page, carried out as they are written: a run is killed, resumed and looked at."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from world.models.smollm import needs_model

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs" / "user-guide" / "tour.md").read_text(encoding="utf-8")
Ended = subprocess.CompletedProcess[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the examples, and with `stagec` on the way to programs."""
    shutil.copytree(TOP / "registries", tmp_path / "registries")
    command = tmp_path / "bin" / "stagec"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m stagec "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return tmp_path


def _list_commands(beginning: str) -> list[str]:
    """Return the commands of the block that begins with a command."""
    (block,) = re.findall(rf"^```console\n(\$ {re.escape(beginning)}.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return [line.removeprefix("$ ") for line in block.splitlines()]


def _carry_out(folder: Path, commands: list[str]) -> Iterator[Ended]:
    around = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(TOP / "compiler")}
    for line in commands:
        yield subprocess.run(("sh", "-c", line), cwd=folder, env=around, capture_output=True, text=True, check=False)


def test_a_run_that_is_killed_is_resumed_and_replayed(folder: Path) -> None:
    """A run that is killed before it has begun is begun again, a little longer each time: machines differ."""
    commands = _list_commands("stagec compile registries/code-review")
    for seconds in (3, 4, 6, 9):
        shutil.rmtree(folder / ".stagec", ignore_errors=True)
        ended = [*_carry_out(folder, [each.replace("KILL 3 ", f"KILL {seconds} ") for each in commands])]
        if ended[1].stdout:
            break
    assert [each.returncode for each in ended] == [0, 137, 0, 0], [each.stderr for each in ended]
    before, after = ended[1].stdout.splitlines(), ended[2].stdout.splitlines()
    assert before
    assert after[-1] == "done: completed, 9 executions, 18 events"
    assert ended[3].stdout == "equal: 18 events, 9 executions, done: completed\n"


def _list_processes(folder: Path) -> Iterator[str]:
    """Yield the command line of every process that works in a folder, where the system tells."""
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if (each / "cwd").readlink() == folder:
                yield (each / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")


@needs_model
def test_a_model_of_this_machine_drives_a_run_that_is_killed(folder: Path) -> None:
    """A run that is killed before it has begun is begun again, a little longer each time: machines differ."""
    commands = _list_commands("stagec validate registries/guest-book")
    for seconds in (2, 4, 8, 16):
        shutil.rmtree(folder / ".stagec", ignore_errors=True)
        ended = [*_carry_out(folder, [each.replace("KILL 2 ", f"KILL {seconds} ") for each in commands])]
        if ended[4].returncode == 0:
            break
    assert [each.returncode for each in ended] == [0, 0, 0, 137, 0, 0], [each.stderr for each in ended]
    assert (folder / "guest-book.html").is_file()
    assert [each for each in _list_processes(folder) if "llama_process" in each] == []
    assert ended[4].stdout.splitlines()[-1] == "done: completed, 3 executions, 4 events"
    assert ended[5].stdout.count("local:smollm2") + ended[5].stdout.count("$0") >= 3
