"""Whoever follows the page about drivers can judge a driver of their own; one that doubles events is found out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.port import Driver

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs/drivers.md").read_text(encoding="utf-8")
OWN = """\
from conformance.ports.local import LocalDriver
from conformance.samples import SAMPLES, sample_of
from stagec.core.value import replace


class MyDriver(LocalDriver):
    pass


class Repeating(LocalDriver):
    def read(self, run):
        found = super().read(run)
        if found is None or len(found.events) < SAMPLES[sample_of(run)].length:
            return found
        return replace(found, events=found.events + found.events[-1:], step_digests=(*found.step_digests, ""))
"""


def judge(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Run a test of the suite for a driver as the page says, and one test of it alone."""
    (command,) = (each for each in re.findall(r"^python -m (pytest .*)$", PAGE, re.MULTILINE) if "my_package" in each)
    package = folder / "my_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "my_port.py").write_text(OWN, encoding="utf-8")
    words = command.replace("MyDriver", name).split()
    chosen = ["-k", "submitted_again_is_the_same", "-p", "no:cacheprovider", "-n", "0"]
    return subprocess.run(
        [sys.executable, "-m", *words, *chosen],
        cwd=TOP,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_driver_of_somebody_else_is_judged(tmp_path: Path) -> None:
    judged = judge(tmp_path, "MyDriver")
    assert judged.returncode == pytest.ExitCode.OK, judged.stdout
    assert "1 passed" in judged.stdout


def test_a_driver_that_doubles_an_event_is_found_out(tmp_path: Path) -> None:
    judged = judge(tmp_path, "Repeating")
    assert judged.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed" in judged.stdout


def test_the_page_names_every_method_of_the_port() -> None:
    methods = {name for name, each in vars(Driver).items() if callable(each) and not name.startswith("_")}
    table = PAGE.partition("| method |")[2].partition("\n\n")[0]
    assert methods == set(re.findall(r"`(\w+)[`(]", "\n".join(row.split("|")[1] for row in table.splitlines()[2:])))
