"""Tools that are programs: a process for each call, which reads the arguments and writes the result."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from stagec.core.json import Json, Object, text_in
from stagec.core.json_reader import UnreadableError, read_json
from stagec.core.secrets import Redactor
from stagec.core.value import value
from stagec.plan.document import Plan
from stagec.world.request_json import PlannedTools, ToolDefinition
from stagec.world.tools.processes import ToolProcesses, ToolProgram, ToolSetting
from stagec.world.tools.toolbox import ToolError

ReadOutput = Callable[[str], Json]
"""Returns the result that a program has written, or raises `ToolError`."""


def read_plain(output: str) -> Json:
    """Return the object or the array that an output is, else its text without the last line break."""
    if output.lstrip()[:1] in {"{", "["}:
        with suppress(UnreadableError):  # what is no JSON is the text that it is
            return read_json(output)
    return output.removesuffix("\n")


@value
class ProgramTool:
    """A tool that a program is: its definition, its argument vector, and how its output is read.

    `sees_all` lets it have the whole environment, as what the user names has it. `wraps` puts the arguments under
    `arguments` beside the name of the `tool`, for a program that has several.
    """

    definition: ToolDefinition
    words: tuple[str, ...]
    read: ReadOutput = read_plain
    sees_all: bool = False
    wraps: bool = False


class ProgramTools:
    """Carries out the tools that are programs."""

    def __init__(self, tools: Iterable[ProgramTool], setting: ToolSetting, redactor: Redactor) -> None:
        self._tools: Mapping[str, ProgramTool] = {each.definition.name: each for each in tools}
        self._processes = ToolProcesses(setting, redactor)
        self.names = tuple(self._tools)
        self.cancel, self.close = self._processes.cancel, self._processes.close

    def define(self, name: str) -> ToolDefinition | None:
        """Return a tool that has a program."""
        found = self._tools.get(name)
        return None if found is None else found.definition

    def call(self, key: str, tool: str, arguments: Object) -> Json:
        """Return what a program has written, or raise `ToolError` with what it says of its failure."""
        meant = self._tools[tool]
        message: Json = {"tool": tool, "arguments": arguments} if meant.wraps else arguments
        given = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        told = self._processes.run(key, ToolProgram(meant.words, tool, given, sees_all=meant.sees_all))
        if told.get("exit") != 0:
            raise ToolError(_explain_end(told))
        return meant.read(text_in(told, "stdout") or "")


def list_planned(plan: Plan) -> tuple[ProgramTool, ...]:
    """Return the tools of a plan that have a command."""
    known = PlannedTools(plan).define(name for name, tool in plan.tools.items() if tool.command)
    return tuple(ProgramTool(each, plan.tools[each.name].command) for each in known)


def list_configured(commands: Mapping[str, tuple[str, ...]]) -> tuple[ProgramTool, ...]:
    """Return the tools of a configuration; what they take is what the plan says, else any object."""
    schema: Object = {"type": "object"}
    return tuple(ProgramTool(ToolDefinition(name, "", schema), words) for name, words in commands.items())


_SHOWN = 4_000
"""Characters of the end of an output that tell why a program has failed."""


def _explain_end(told: Mapping[str, Json]) -> str:
    """Return how a program has ended, and the end of what it wrote."""
    status = told.get("exit")
    how = "it was ended" if status is None else f"it ended with status {status}"
    said = (text_in(told, "stderr") or text_in(told, "stdout") or "").strip()
    return f"{how}: {said[-_SHOWN:]}" if said else how
