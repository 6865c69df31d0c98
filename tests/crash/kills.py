"""Runs of commands that take long and hide, killed at random moments and resumed: what of them was alive when."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import nursery
from playable import STEPS, steps

from stagec.ir.plan import dump

_SAID = "said"
"""The file in which a process writes what is wrong."""
_MARK = "STAGEC_IDEMPOTENCY_KEY="
COMMANDS = (
    "echo; sleep 600",
    "trap '' TERM INT HUP; (sleep 600 & sleep 600 & wait) & sleep 600",
    "setsid sleep 600 & sleep 600",
    "setsid sh -c '(setsid sleep 600 &) ; sleep 600' & sleep 0.05; (sleep 600 &); wait",
    "exec >&- 2>&-; (trap '' TERM; sleep 600) & sleep 600",
    "(setsid sh -c 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; sleep 600' &); sleep 600",
)
"""What validators do: they start others, ignore requests to end, leave their session, close what they were given."""


class Kill(NamedTuple):
    """One kill: of which command, whether any was alive by then, and what is wrong afterwards."""

    command: str
    was_running: bool
    faults: tuple[str, ...]


def killed(folder: Path, count: int, seed: int = 0) -> Iterator[Kill]:
    """Kill runs, and look for what they have started: a second later, and when the run is resumed at once."""
    (folder / "scenario.yaml").write_text(STEPS, encoding="utf-8")
    for number in range(count):
        chance = random.Random(f"{seed} {number}")  # noqa: S311
        command = COMMANDS[number % len(COMMANDS)]
        (folder / "plan").write_bytes(dump(steps(command)))
        name = f"run{number}-{os.getpid()}"  # what is done to runs at the same time must not be mistaken for this
        yield _killed(folder, name, command, chance)


def _killed(folder: Path, name: str, command: str, chance: random.Random) -> Kill:
    first = _started(folder, "run", "plan", "--scenario", "scenario.yaml", "--run", name)
    until = time.monotonic() + 30
    while not _alive(name) and time.monotonic() < until:
        time.sleep(0.005)
    time.sleep(0.3 * chance.random() ** 2)
    before = _alive(name)
    first.kill()
    faults: list[str] = []
    if chance.random() < 0.5:
        faults += _resumed(folder, name, before)
    first.wait()
    time.sleep(1)
    faults += [f"{pid} outlives {name}" for pid in _alive(name)]
    for pid in _alive(name):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return Kill(command, bool(before), tuple(faults))


def _resumed(folder: Path, name: str, before: set[int]) -> list[str]:
    """Resume at once, and watch until a new command runs: nothing of the old one may be alive beside it."""
    again = _started(folder, "resume", name)
    try:
        until = time.monotonic() + 30
        while time.monotonic() < until and again.poll() is None:
            old = _alive(name) & before  # looked for first, so that it was alive when the new one was seen
            new = _alive(name) - before
            if new and any(_is_child_of(again.pid, pid, before) for pid in new):
                still = old & _alive(name)
                return [f"{pid} of {name} runs beside {sorted(new)}" for pid in still]
            time.sleep(0.002)
        said = (folder / _SAID).read_text(encoding="utf-8", errors="replace")
        return [f"{name} could not be resumed ({again.poll()}): {said}"]
    finally:
        again.kill()
        again.wait()


def _is_child_of(again: int, pid: int, before: set[int]) -> bool:
    """Tell whether a process was started by the new life of the run, not by one of the old processes."""
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        except OSError:
            return False
        if pid in before:
            return False
        if pid == again:
            return True
    return False


def _started(folder: Path, *arguments: str) -> nursery.Process:
    with Path(os.devnull).open("r+b") as nothing, (folder / _SAID).open("wb") as said:
        streams = (nothing.fileno(), nothing.fileno(), said.fileno())
        return nursery.start(arguments, folder, nursery.environment(), streams)


def _alive(name: str) -> set[int]:
    """Return the processes that a command of a run has started: they have its key in their environment."""
    wanted = f"{_MARK}{name}/".encode()
    found = set()
    for each in os.listdir("/proc"):
        if each.isdigit():
            with suppress(OSError):
                if wanted in Path(f"/proc/{each}/environ").read_bytes():
                    found.add(int(each))
    return found
