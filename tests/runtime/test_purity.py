"""The machine needs nothing but what it is given, and leaves that as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest
from campaigns import choose
from runtime.sealed import TRACES, trace
from runtime.traces import tell

from stagec.runtime.machine import State

TOP = Path(__file__).parents[2]
SEEDS = range(choose(2, whole=8))
TAKEN = {
    "a file": "builtins.open('x')",
    "a file of the system": "os.open('x', 0)",
    "a file by its path": "pathlib.Path('x').read_bytes()",
    "a file that was opened before": "io.open('x')",
    "a clock": "time.monotonic()",
    "chance": "random.random()",
    "an own source of chance": "os.urandom(1)",
    "the environment": "os.environ['PATH']",
    "a variable": "os.getenv('PATH')",
    "a socket": "socket.create_connection(('127.0.0.1', 1))",
    "a socket of the system": "_socket.socket()",
    "a process": "subprocess.run(['true'])",
    "a process of the system": "posix.system('true')",
    "a module": "importlib.import_module('colorsys')",
}
"""What a machine could reach for, as a line of Python."""


def said(program: str, seed: int) -> str:
    """Return what a fresh process prints, whose hashes begin with a seed."""
    paths = os.pathsep.join((str(TOP / "compiler"), str(TOP / "tests")))
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": paths, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout


def test_runs_are_the_same_without_files_clocks_chance_and_environment_and_under_every_hash_seed() -> None:
    found = {said("from runtime.sealed import main; main()", seed) for seed in SEEDS}
    (line,) = found
    count, _, same = line.split(" ", 2)
    assert (same, int(count) > 500) == ("same", True)


def test_what_is_taken_away_is_missed() -> None:
    names = "builtins, importlib, io, os, pathlib, random, socket, _socket, subprocess, posix, time"
    program = f"""
import {names}
from runtime import sealed
write = os.write
sealed.sealed()
for name, line in {TAKEN!r}.items():
    try:
        exec(line)
    except sealed.SealedError:
        write(1, name.encode() + b"\\n")
"""
    assert said(program, 0).splitlines() == [*TAKEN]


@pytest.mark.parametrize("path", TRACES, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_an_advance_leaves_its_arguments_as_they_were(path: Path) -> None:
    program, events = trace(path)
    state = State()
    plan = deepcopy(program.plan)
    for event in events:
        before, given = deepcopy(state), deepcopy(event)
        step = tell(program, state, event)
        assert (state, event) == (before, given)
        assert tell(program, state, event) == step
        state = step.state
    assert program.plan == plan
