"""Commands on hostile input that are asked to end at random moments, and what each has left behind."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from campaigns import is_full
from crash.running import RESISTING, STUBBORN, SilentHost, find_processes, resist
from playable import STEPS, steps

from stagec.ir.plan import dump

TOP = Path(__file__).parents[2]
SIGNALS = (signal.SIGINT, signal.SIGTERM)
FOR_EVER = 60
"""Seconds after which a process that was asked to end is killed."""
MOMENTS = (0.15, 0.6, 2.5, 6) if is_full() else (0.15, 0.6)
"""Seconds before which a process is asked to end: while it starts, while it reads, while it works."""
_SERVER = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "validate": ("validate", "large"),
    "fix": ("validate", "large", "--fix"),
    "patterns": ("validate", "patterns"),
    "yaml": ("validate", "yaml"),
    "input": ("validate", "-", "--stdin-filename", "steps_registry.json"),
    "graph": ("graph", "flow", "--format", "html", "-o", "out/flow.html"),
    "compile": ("compile", "flow", "-o", "out"),
    "verify": ("verify", "plan"),
    "run": ("run", "plan", "--scenario", "scenario.yaml"),
    "simulate": ("simulate", "plan"),
    "lock": ("tools", "lock", "servers"),
    "explain": ("explain",),
    "runs": ("runs", "list"),
    "help": ("--help",),
    **RESISTING,
}


LONG_FAREWELLS = frozenset({"stages"})
"""Commands that give what they have started the time that a protocol promises it, unless they are asked twice."""


class Ending(NamedTuple):
    """How one command ended: which, by which signals, when they came, and how long it took from the first."""

    command: str
    signals: tuple[signal.Signals, ...]
    moment: float
    seconds: float
    status: int
    complaint: str
    left: tuple[str, ...] = ()
    """The processes that were still there a second later."""

    @property
    def faults(self) -> Iterator[str]:
        """Yield what is wrong with it."""
        yield from (f"still there: {each}" for each in self.left)
        wanted = {status for each in self.signals for status in (128 + each, -each)}
        if self.status not in wanted and (self.status < 0 or self.status > 3):
            yield f"status {self.status}"
        is_ours = any(f"stagec{os.sep}{part}" in self.complaint for part in ("cli", "core"))
        if "panicked" in self.complaint or ("Traceback" in self.complaint and is_ours):
            yield self.complaint


def hostile(folder: Path) -> None:
    """Write input with which every command takes long, or for ever."""
    step = {"name": "A", "c2": "initial", "structuredGate": {"allowedIntents": ["next"], "intentField": "a"}}
    large = {f"initial.s{number}": {**step, "stepId": f"initial.t{number}"} for number in range(1500)}
    patterns = {
        "type": "object",
        "properties": {f"p{n}": {"pattern": f"\\p{{L}}{{{n % 50 + 50}}}"} for n in range(300)},
    }
    registry = {"agentId": "a", "version": "1.0.0", "c1": "c", "entryStep": "initial.s0"}
    write(folder / "large/steps_registry.json", json.dumps({**registry, "steps": large}))
    linked = {
        f"initial.s{n}": {
            "stepId": f"initial.s{n}", "name": "A", "c2": "initial", "c3": f"s{n}", "stepKind": "work",
            "outputSchemaRef": {"file": "p.json", "schema": "p"},
        }
        for n in range(3)
    }  # fmt: skip
    write(folder / "patterns/steps_registry.json", json.dumps({**registry, "steps": linked}))
    write(folder / "patterns/schemas/p.json", json.dumps({"p": patterns}))
    write(
        folder / "yaml/pipeline.yaml",
        "stages:\n" + "".join(f"  - {{id: s{n}, next: [s{n + 1}]}}\n" for n in range(4000)),
    )
    write(folder / "plan", dump(steps(STUBBORN)).decode())
    write(folder / "scenario.yaml", STEPS)
    server = {"command": sys.executable, "args": ["-c", _SERVER]}
    write(folder / "servers/.mcp.json", json.dumps({"mcpServers": {f"s{n}": server for n in range(3)}}))
    (folder / "out").mkdir()
    for each in (TOP / "registries").glob("project-flow/**/*"):
        if each.is_file():
            write(folder / "flow" / each.relative_to(TOP / "registries/project-flow"), each.read_text(encoding="utf-8"))
    resist(folder)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def asked_to_end(folder: Path, count: int, seed: int = 0) -> Iterator[Ending]:
    """Ask commands to end, each by one signal or two, at a random moment."""
    for each in SIGNALS:  # what a shell starts in the background ignores Ctrl-C, and so would all that is started here
        if signal.getsignal(each) is signal.SIG_IGN:
            signal.signal(each, signal.SIG_DFL)
    hostile(folder)
    host = SilentHost()
    for number in range(count):
        chance = random.Random(f"{seed} {number}")  # noqa: S311
        yield _ended(folder, tuple(COMMANDS)[number % len(COMMANDS)], chance, host.variables)
    host.close()


def _ended(folder: Path, name: str, chance: random.Random, variables: Mapping[str, str]) -> Ending:
    numbers = tuple(chance.choices(SIGNALS, k=2 if name in LONG_FAREWELLS else chance.choice((1, 1, 2))))
    moment = chance.choice(MOMENTS) * chance.random()
    process = subprocess.Popen(
        [sys.executable, "-m", "stagec", *COMMANDS[name]],
        cwd=folder,
        env={**os.environ, **variables, "PYTHONPATH": str(TOP / "compiler")},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    time.sleep(moment)
    begun = time.monotonic()
    for each in numbers:
        process.send_signal(each)
        time.sleep(0.02)
    with suppress(subprocess.TimeoutExpired):
        process.wait(FOR_EVER)
    seconds = time.monotonic() - begun
    process.kill()
    _, complaint = process.communicate()
    left = _wait_for_processes(folder)
    if process.returncode < 0:  # a process that is killed may leave the file that it was writing
        for unfinished in folder.rglob(".stagec-*.tmp"):
            unfinished.unlink()
    return Ending(name, numbers, moment, seconds, process.returncode, complaint.decode(errors="replace"), left)


def _wait_for_processes(folder: Path) -> tuple[str, ...]:
    """Return the processes that work in a folder for another second."""
    patience = time.monotonic() + 1
    while (left := tuple(find_processes(folder))) and time.monotonic() < patience:
        time.sleep(0.01)
    return left


def left_behind(folder: Path) -> list[str]:
    """Return the files that are half-written, or that no killed process explains."""
    made = [each for each in folder.rglob("*") if each.is_file()]
    strange = [str(each) for each in made if each.name.startswith(".stagec-") or each.suffix == ".tmp"]
    return strange + [str(each) for each in (folder / "out").rglob("*.json") if not _whole(each)]


def _whole(path: Path) -> bool:
    try:
        json.loads(path.read_bytes())
    except ValueError:
        return False
    return True
