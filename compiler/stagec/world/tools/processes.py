"""The processes of tools while calls are under way: started alike, ended by the key of their call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from threading import Lock

from stagec.core.json import Json
from stagec.core.secrets import Redactor
from stagec.core.value import value
from stagec.world.commands import CommandLine, run, select_variables
from stagec.world.supervisor_link import Link
from stagec.world.tools.protected_places import Protection


def hold_nothing() -> int | None:
    """Return no file: nobody waits for the end of the processes."""
    return None


_NOTHING = Protection()


@value
class ToolSetting:
    """Where programs of tools run: their folder, the run, the variables that they may see, their seconds.

    `hold` returns the open file that every process of the run holds. `protection` is what tools for files may not use.
    """

    folder: str
    run: str = ""
    variables: tuple[str, ...] = ()
    seconds: float = 600
    hold: Callable[[], int | None] = hold_nothing
    protection: Protection = _NOTHING


@value
class ToolProgram:
    """A program that carries one call out: its words, its tool, and what it reads, if anything.

    `seconds` None are those of the setting. `sees_all` lets it have the whole environment, as what the user names.
    """

    words: tuple[str, ...]
    tool: str
    given: bytes | None = None
    seconds: float | None = None
    sees_all: bool = False


class ToolProcesses:
    """Runs programs for calls; several may be under way."""

    def __init__(self, setting: ToolSetting, redactor: Redactor) -> None:
        self._setting, self._redactor = setting, redactor
        self._lock = Lock()
        self._links: dict[str, Link] = {}
        self._cancelled: set[str] = set()

    def run(self, key: str, program: ToolProgram) -> Mapping[str, Json]:
        """Run a program to its end and return `{"exit", "stdout", "stderr"}`, redacted."""
        setting, link = self._setting, Link()
        seconds = setting.seconds if program.seconds is None else program.seconds
        environment = self._make_environment(key, program)
        milliseconds = int(seconds * 1000)
        line = CommandLine(program.words, milliseconds, environment, setting.hold(), setting.folder, program.given)
        with self._lock:
            self._links[key] = link
            if key in self._cancelled:  # before it has begun
                link.stop()
        try:
            return run(line, self._redactor, link)
        finally:
            with self._lock:
                self._links.pop(key, None)

    def _make_environment(self, key: str, program: ToolProgram) -> dict[str, str]:
        """Return the environment of a program; the key is the same when a call is made again after a crash."""
        seen = dict(os.environ) if program.sees_all else select_variables(os.environ, self._setting.variables)
        about = {"STAGEC_IDEMPOTENCY_KEY": key, "STAGEC_RUN_ID": self._setting.run, "STAGEC_TOOL": program.tool}
        return {**seen, **about}

    def cancel(self, key: str) -> None:
        """End the program of a call."""
        with self._lock:
            self._cancelled.add(key)
            link = self._links.get(key)
        if link is not None:
            link.stop()

    def close(self) -> None:
        """End every program."""
        for each in tuple(self._links):
            self.cancel(each)
