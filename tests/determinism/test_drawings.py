"""The same project gives the same drawings in every process and on every Python."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from campaigns import choose

from stagec.core.shelf import members
from stagec.views import emitters
from stagec.views.emitters import Emitter

TOP = Path(__file__).parents[2]
SEEDS = range(1, choose(2, whole=16))
PYTHONS = tuple(filter(None, os.environ.get("STAGEC_PYTHONS", "").split(os.pathsep))) or (sys.executable,)
"""Pythons that `STAGEC_PYTHONS` names; each has stagec's dependencies installed."""
SUFFIXES = sorted(each.suffix for each in members(emitters, Emitter) if each.name != "png")
"""Graphviz draws `png`, in the same manner with each of its versions."""
EXAMPLES = ("broken-on-purpose", "code-review", "file-review", "issue-flow")
"""Flows of every system, and what has mistakes."""
DRAW = f"""
import sys
from stagec.cli.app import run
for suffix in sys.argv[2:]:
    assert run(["graph", *{EXAMPLES}, "-o", sys.argv[1] + "/drawing" + suffix]) == 0
"""


def draw(folder: Path, *, python: str = sys.executable, seed: int = 0) -> Mapping[str, bytes]:
    """Return the drawings of the examples in every format, made by a process of its own."""
    folder.mkdir()
    environment = {"PYTHONPATH": str(TOP / "compiler"), "PATH": os.environ["PATH"], "PYTHONHASHSEED": str(seed)}
    argv = [python, "-c", DRAW, str(folder), *SUFFIXES]
    ended = subprocess.run(argv, cwd=TOP / "registries", env=environment, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return {suffix: (folder / f"drawing{suffix}").read_bytes() for suffix in SUFFIXES}


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    """Return the drawings as they are usually made."""
    found = draw(tmp_path_factory.mktemp("drawings") / "usual")
    assert all(b"code-review" in each for each in found.values())
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_the_hash_seed_does_not_matter(usual: Mapping[str, bytes], tmp_path: Path, seed: int) -> None:
    assert draw(tmp_path / "again", seed=seed) == usual


def test_the_python_does_not_matter(usual: Mapping[str, bytes], tmp_path: Path) -> None:
    for number, python in enumerate(PYTHONS):
        assert draw(tmp_path / str(number), python=python) == usual
