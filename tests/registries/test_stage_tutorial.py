"""The tutorial of stage plans, followed to the letter: a run is killed half-way and resumed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pages import LEFT_OUT

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs" / "user-guide" / "tutorial-wine-quality.md").read_text(encoding="utf-8")
CONSOLE = re.compile(r"^```console\n\$ ([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
KILLED = "timeout -s KILL 10 "
TIMES = r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\b\d+\.\d s"
VARIES = re.compile(rf"{TIMES}|sha256:[0-9a-f]+|\d+ markers in \d+ lines|^ *\d+  |(?<=waits for ).+", re.MULTILINE)
RUN = Path("reports") / "wine-quality" / "demo"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(
        TOP / "registries" / "wine-quality", tmp_path / "wine", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path / "wine"


def begin(project: Path, command: str) -> subprocess.Popen[str]:
    words = command.split()
    program = [sys.executable, "-m", "stagec", *words[1:]] if words[0] == "stagec" else words
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    quick = {"WINE_PAUSE": "0.1", "STAGEC_PASS_ENV": "WINE_PAUSE"}
    around = {**kept, **quick, "PYTHONPATH": str(TOP / "compiler"), "LC_ALL": "C.UTF-8"}
    return subprocess.Popen(
        program, cwd=project, env=around, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    )


def kill_half_way(process: subprocess.Popen[str], project: Path) -> None:
    """Kill a run in the middle of its long stage, when nothing else runs."""
    log, told = project / RUN / "run.log", ""
    while "ckpt-S05" not in told or "[STAGE:progress:id=S04" not in told:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
        told = log.read_text(encoding="utf-8") if log.exists() else ""
    time.sleep(0.2)  # until the line about the checkpoint is written
    process.send_signal(signal.SIGKILL)


def lines_of(text: str) -> list[str]:
    """Return lines without what differs between runs: times, digests, and the order in which stages end."""
    return sorted(re.sub(r"  +", "  ", VARIES.sub("…", line)) for line in text.splitlines())


def test_the_tutorial_does_what_it_says(project: Path) -> None:
    commands = CONSOLE.findall(PAGE)
    for command, shown in commands:
        process = begin(project, command.removeprefix(KILLED))
        if command.startswith(KILLED):
            kill_half_way(process, project)
        out, _ = process.communicate(timeout=120)
        assert process.returncode == (-signal.SIGKILL if command.startswith(KILLED) else 0), out
        told = lines_of(shown)
        if LEFT_OUT in told:
            assert set(told) - {LEFT_OUT} < set(lines_of(out)), command
        else:
            assert lines_of(out) == told, command
    assert [command.split()[1] for command, _ in commands if command.startswith("stagec")] == [
        "validate",
        "compile",
        "runs",
        "checkpoint",
        "resume",
        "runs",
        "markers",
    ]
