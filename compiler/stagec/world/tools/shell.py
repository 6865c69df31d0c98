"""The bundled tool for commands: a shell in the working folder, with a time limit and nothing left behind."""

from __future__ import annotations

import os
from pathlib import Path

from stagec.core.json import Json, Object
from stagec.core.secrets import Redactor
from stagec.world.briefing import ToolDefinition
from stagec.world.commands import CommandLine, run, select_variables
from stagec.world.supervised import Link
from stagec.world.tools.toolbox import read_count, read_text

_SECONDS = 120
_MOST_SECONDS = 600
_SCHEMA: Object = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "description": "A command for sh"},
        "timeout": {"type": "integer", "description": "Seconds after which it is stopped, 600 at most"},
    },
    "required": ["command"],
}
_DEFINITION = ToolDefinition("Bash", "Run a command in the working folder.", _SCHEMA, "mutating", "bundled")


class ShellTool:
    """Runs commands with `sh`; they see the variables that commands of a plan see, and no others."""

    def __init__(self, root: Path, variables: tuple[str, ...], redactor: Redactor) -> None:
        self._root, self._variables, self._redactor = root, variables, redactor
        self._links: dict[str, Link] = {}

    def define(self, name: str) -> ToolDefinition | None:
        """Return the tool under its two names."""
        return _DEFINITION if name in {"Bash", "bash"} else None

    def call(self, key: str, _tool: str, arguments: Object) -> Json:
        """Return the exit status and the output of a command."""
        seconds = min(read_count(arguments, "timeout", _SECONDS), _MOST_SECONDS)
        environment = {**select_variables(os.environ, self._variables), "STAGEC_IDEMPOTENCY_KEY": key}
        words = ("sh", "-c", read_text(arguments, "command"))
        line = CommandLine(words, seconds * 1000, environment, folder=str(self._root))
        link = self._links[key] = Link()
        try:
            return run(line, self._redactor, link)
        finally:
            self._links.pop(key, None)

    def cancel(self, key: str) -> None:
        """End a command."""
        link = self._links.get(key)
        if link is not None:
            link.stop()

    def close(self) -> None:
        """End every command."""
        for each in tuple(self._links):
            self.cancel(each)
