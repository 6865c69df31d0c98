"""The bundled tool for commands: a shell in the working folder, with a time limit and nothing left behind."""

from __future__ import annotations

from stagec.core.json import Json, Object
from stagec.core.secrets import Redactor
from stagec.world.request_json import ToolDefinition
from stagec.world.tools.processes import ToolProcesses, ToolProgram, ToolSetting
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

    def __init__(self, setting: ToolSetting, redactor: Redactor) -> None:
        self._processes = ToolProcesses(setting, redactor)
        self.names = (_DEFINITION.name,)
        self.cancel, self.close = self._processes.cancel, self._processes.close

    def define(self, name: str) -> ToolDefinition | None:
        """Return the tool under its two names."""
        return _DEFINITION if name in {"Bash", "bash"} else None

    def call(self, key: str, tool: str, arguments: Object) -> Json:
        """Return the exit status and the output of a command."""
        seconds = min(read_count(arguments, "timeout", _SECONDS), _MOST_SECONDS)
        words = ("sh", "-c", read_text(arguments, "command"))
        told = self._processes.run(key, ToolProgram(words, tool, seconds=seconds))
        return {**told, "stdout": _cut(told["stdout"]), "stderr": _cut(told["stderr"])}


_SHOWN = 20_000
"""Characters of each output that a model is told: the status and the end of both must have room in one result."""


def _cut(output: Json) -> str:
    """Return the beginning and the end of an output."""
    text = str(output)
    left = len(text) - _SHOWN
    half = _SHOWN // 2
    return text if left <= 0 else f"{text[:half]}\n[{left:,} characters are left out]\n{text[-half:]}"
