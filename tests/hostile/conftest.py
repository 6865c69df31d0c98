"""Attacks: stagec as users run it on a project that means harm, and what that costs in time and memory."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import nursery
import pytest

COMPILER = Path(__file__).parents[2] / "compiler"
GENEROUS = 6
"""Limits are this many times the wish, so that a busy machine fails no test."""
GIVEN_UP = 5
"""Seconds of processor time beyond the limit after which the system ends a run; it waits four times as long."""
LAUNCHER = """
import json, os, resource, signal, sys
report, limit, *command = sys.argv[1:]
child = os.fork()
if not child:
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
    signal.alarm(4 * int(limit))
    os.execv(command[0], command)
_, status, used = os.wait4(child, 0)
with open(report, "w") as file:
    json.dump([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024], file)
"""
"""Starts a command from a small process: a large one would lend its own memory to the peak of the new one."""
LOADED = 45.0
"""Megabytes of a Python that has loaded a command: the memory of what the nursery bears counts from there."""
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
COMMANDS = re.compile(r"^\s*::(?!:)|##\[|##vso\[", re.MULTILINE)
CODES = re.compile(r"\[(STG\d{3,4})\]")


class Outcome(NamedTuple):
    """How a run ended, what it printed, and what it took."""

    status: int
    out: str
    err: str
    seconds: float
    megabytes: float

    @property
    def codes(self) -> set[str]:
        """The codes of the diagnostics that were printed."""
        return set(CODES.findall(self.out))


Attack = Callable[..., Outcome]


def environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "PYTHONPATH": str(COMPILER), "LC_ALL": "C.UTF-8", **more}


def run(folder: Path, report: Path, arguments: tuple[str, ...], limit: int, **more: str) -> Outcome:
    if nursery.needs_new_python(arguments, environment(**more)):
        return run_new_python(folder, report, arguments, limit, **more)
    with Path(os.devnull).open() as nothing, TemporaryFile() as out, TemporaryFile() as err:
        streams = (nothing.fileno(), out.fileno(), err.fileno())
        child = nursery.bear(arguments, folder, environment(**more), streams, limit=limit)
        status = child.wait()
        out.seek(0)
        err.seek(0)
        cost = child.cost
        return Outcome(status, out.read().decode(), err.read().decode(), cost.seconds, LOADED + cost.megabytes)


def run_new_python(folder: Path, report: Path, arguments: tuple[str, ...], limit: int, **more: str) -> Outcome:
    command = [sys.executable, "-m", "stagec", *arguments]
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LAUNCHER, str(report), str(limit), *command],
        cwd=folder, env=environment(**more), capture_output=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    status, seconds, megabytes = json.loads(report.read_text(encoding="utf-8"))
    return Outcome(status, ended.stdout.decode(), ended.stderr.decode(), seconds, megabytes)


@pytest.fixture
def attack(tmp_path: Path, request: pytest.FixtureRequest) -> Attack:
    """Run stagec on the project in `tmp_path / "project"`, refusing what no project may ever bring about."""

    def start(
        *arguments: str,
        seconds: float = 1.0,
        megabytes: float = 200.0,
        command: str = "validate",
        folder: str = ".",
        **environment: str,
    ) -> Outcome:
        ended = run(
            tmp_path / "project" / folder,
            tmp_path / "report",
            (command, *arguments),
            int(GIVEN_UP + GENEROUS * seconds),
            **environment,
        )
        request.node.user_properties.append(("cost", (ended.seconds, ended.megabytes, seconds, megabytes)))
        said = ended.out[:2000] + ended.err[-4000:]
        assert ended.status in {0, 1, 2, 3}, said
        assert "Traceback" not in ended.err, said
        assert not RAW.search(ended.out + ended.err), ascii(said)
        assert not COMMANDS.search(ended.out + ended.err), said
        assert ended.seconds <= GENEROUS * seconds
        assert ended.megabytes <= megabytes
        return ended

    return start


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make the folder that is attacked; what lies beside it is outside."""
    root = tmp_path / "project"
    root.mkdir()
    return root


Write = Callable[..., Path]


@pytest.fixture
def write(project: Path) -> Write:
    """Write a file of the project: text, bytes, or a value as JSON."""

    def put(file: str, content: object) -> Path:
        path = project / file
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content))
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return put


@pytest.fixture
def registry() -> Callable[..., dict[str, Any]]:
    """Make a registry; members may be replaced, and `steps` are by default one that answers by a schema.

    Where `{}` is given there is one step without anything that could be wrong.
    """

    def make(steps: Mapping[str, Any] | None = None, **members: Any) -> dict[str, Any]:
        given = {"initial.a": step("initial.a")} if steps is None else steps
        top = {"agentId": "a", "version": "1.0.0", "c1": "steps"}
        if not given:
            given = {"initial.a": {"stepId": "initial.a", "name": "A", "c2": "initial", "c3": "a"}}
            top["entryStep"] = "initial.a"
        return {**top, "steps": given, **members}

    return make


def step(name: str, target: str | None = "initial.a", pointer: str = "#/properties/x") -> dict[str, Any]:
    """Make a step that is fine as long as its target and the schema `s.schema.json` are there."""
    return {
        "stepId": name, "name": "A", "type": "prompt", "stepKind": "work", "c2": "initial", "c3": "a",
        "edition": "default",
        "outputSchemaRef": {"file": "s.schema.json", "schema": "a"},
        "structuredGate": {"allowedIntents": ["next"], "intentSchemaRef": pointer, "intentField": "x"},
        "transitions": {"next": {"target": target}},
    }  # fmt: skip


@pytest.fixture
def make_step() -> Callable[..., dict[str, Any]]:
    """Make a step."""
    return step


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what every attack took, next to what was wished for."""
    reports = [each for group in terminalreporter.stats.values() for each in group if hasattr(each, "user_properties")]
    rows = [
        (each.nodeid.partition("::")[2], cost)
        for each in reports
        for name, cost in each.user_properties
        if name == "cost" and each.when == "call"
    ]
    for name, (seconds, megabytes, most_seconds, most_megabytes) in rows:
        late = "!" if seconds > most_seconds or megabytes > most_megabytes else " "
        terminalreporter.write_line(f"{late} {seconds:7.2f} s of {most_seconds:4.1f} {megabytes:6.0f} MB  {name[:110]}")
