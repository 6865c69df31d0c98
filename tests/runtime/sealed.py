"""A process that runs plans by their traces, then once more with nothing around them, and prints what followed.

Before the second time, everything that reaches the world is taken away: functions of `os`, `time`, `random` and others
raise, the environment cannot be read, and an audit hook refuses to open files, connect, and start processes.
"""

from __future__ import annotations

import builtins
import json
import os
import random
import secrets
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from runtime.traces import tell

from stagec.runtime.machine import Program, State, load

TRACES = sorted((Path(__file__).parents[1] / "plan_vectors").glob("*/*.trace.json"))
MODULES = (os, time, random, secrets, socket, subprocess, threading, uuid)
KEPT = {"os": {"write", "_exit"}}
"""What this process itself needs at its end."""
ALLOWED = (
    "compile",
    "exec",
    "object.__getattr__",
    "object.__setattr__",
    "code.__new__",
    "sys._getframe",
    "builtins.id",
)
"""What may be noticed although nothing outside is reached: no other event of an audit is allowed."""

Trace = tuple[Program, list[Mapping[str, Any]]]


class SealedError(BaseException):
    """Something was reached for that is not there; nothing catches this by mistake."""


class Gone(dict[Any, Any]):
    """An environment that cannot be read."""

    def __getitem__(self, key: Any) -> NoReturn:
        raise SealedError(f"environ[{key!r}]")

    def get(self, key: Any, default: Any = None) -> NoReturn:
        raise SealedError(f"environ.get({key!r}, {default!r})")

    def __contains__(self, key: object) -> NoReturn:
        raise SealedError(f"{key!r} in environ")

    def __iter__(self) -> NoReturn:
        raise SealedError("iter(environ)")


def trace(path: Path) -> Trace:
    """Return the events of a trace, with a program that has done nothing yet."""
    events = [step["event"] for step in json.loads(path.read_text(encoding="utf-8"))]
    return load((path.parent / "plan.json").read_bytes()), events


def ran(given: Iterable[Trace]) -> list[str]:
    """Return all that follows from each event of traces, written down."""
    found = []
    for program, events in given:
        state = State()
        for event in events:
            step = tell(program, state, event)
            found.append(ascii(step))
            state = step.state
    return found


def sealed() -> None:
    """Take everything away."""
    for module in MODULES:
        for name, each in list(vars(module).items()):
            if callable(each) and not isinstance(each, type) and name not in KEPT.get(module.__name__, ()):
                setattr(module, name, _gone(module, name))
    os.environ = Gone()  # type: ignore[assignment]  # noqa: B003
    for name in ("open", "input", "print", "breakpoint"):
        setattr(builtins, name, _gone(builtins, name))
    sys.addaudithook(_refused)


def _gone(module: ModuleType, name: str) -> Any:
    def call(*_given: object, **_named: object) -> NoReturn:
        raise SealedError(f"{module.__name__}.{name}")

    return call


def _refused(event: str, given: tuple[object, ...]) -> None:
    if event not in ALLOWED:
        raise SealedError(f"{event} {given!r}")


def main() -> None:
    """Print a digest of what followed when everything was there, and then one of what followed when nothing was."""
    once, again = [trace(path) for path in TRACES], [trace(path) for path in TRACES]
    write, leave = os.write, os._exit
    before = ran(once)
    sealed()
    try:
        after = ran(again)
        told_of = "same" if after == before else "other"
    except SealedError as error:
        told_of = f"reached for {error}"
    write(1, f"{len(before)} {sha256(chr(10).join(before).encode()).hexdigest()} {told_of}".encode())
    leave(0)


if __name__ == "__main__":
    main()
