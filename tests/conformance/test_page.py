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


def test_a_driver_of_somebody_else_is_judged_and_one_that_doubles_an_event_is_found_out(tmp_path: Path) -> None:
    """Run one test of the suite as the page says, for two drivers."""
    (command,) = (each for each in re.findall(r"^python -m (pytest .*)$", PAGE, re.MULTILINE) if "my_package" in each)
    package = tmp_path / "my_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "my_port.py").write_text(OWN, encoding="utf-8")
    chosen = ["-k", "submitted_again_is_the_same", "-p", "no:cacheprovider", "-n", "0"]
    judged = subprocess.run(
        [sys.executable, "-m", *command.split(), "--driver", "my_package.my_port:Repeating", *chosen],
        cwd=TOP,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert judged.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 1 passed" in judged.stdout
    assert re.findall(r"^FAILED [^[]*\[([^]]*)\]", judged.stdout, re.MULTILINE) == ["my_package.my_port:Repeating"]


def test_the_page_names_every_method_of_the_port() -> None:
    methods = {name for name, each in vars(Driver).items() if callable(each) and not name.startswith("_")}
    table = PAGE.partition("| method |")[2].partition("\n\n")[0]
    assert methods == set(re.findall(r"`(\w+)[`(]", "\n".join(row.split("|")[1] for row in table.splitlines()[2:])))
