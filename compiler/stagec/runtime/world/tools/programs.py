"""Tools that are programs: each call is a process, which reads the arguments and writes the result."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.json_reader import UnreadableError, find_unreadable, parse_json, read_json
from stagec.core.secrets import Redactor
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.ir.plan.document import Plan
from stagec.runtime.machine.answer_schemas import prepare
from stagec.runtime.world.commands import CommandLine, run, select_variables
from stagec.runtime.world.request_json import PlannedTools, ToolDefinition
from stagec.runtime.world.supervised_program import Link
from stagec.runtime.world.tools.files import Protection
from stagec.runtime.world.tools.toolbox import ToolError, read_count, read_text


def hold_nothing() -> int | None:
    """Return no file: nobody waits for the end of the processes."""
    return None


_NOTHING = Protection()


@value
class ToolSetting:
    """The environment of tools' programs: their folder, the run, the visible variables, their time in seconds.

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
        """Return the output of a program, or raise `ToolError` with its own message."""
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


_PROGRAMS_SHOWN = 4_000
"""Characters of the end of an output that tell why a program has failed."""


def _explain_end(told: Mapping[str, Json]) -> str:
    """Return how a program has ended, and the end of what it wrote."""
    status = told.get("exit")
    how = "it was ended" if status is None else f"it ended with status {status}"
    said = (text_in(told, "stderr") or text_in(told, "stdout") or "").strip()
    return f"{how}: {said[-_PROGRAMS_SHOWN:]}" if said else how


_HOST = str(Path(__file__).with_name("callable_host.py"))
_PATIENCE = 60.0
"""Seconds in which a module must be imported and described."""


def open_modules(modules: Iterable[str], setting: ToolSetting, redactor: Redactor) -> ProgramTools:
    """Return the tools of some modules, or raise `Failure` for one that cannot be imported, or has none."""
    known: dict[str, ProgramTool] = {}
    for module in dict.fromkeys(modules):
        for each in _list_tools(module, setting, redactor):
            if each.definition.name in known:
                raise Failure(f"--tools {quote(module)}: another module has a tool {quote(each.definition.name)}, too")
            known[each.definition.name] = each
    return ProgramTools(known.values(), setting, redactor)


def _list_tools(module: str, setting: ToolSetting, redactor: Redactor) -> Iterator[ProgramTool]:
    words = (sys.executable, "-P", _HOST, module)
    asking = ToolProgram(words, "", b"{}\n", _PATIENCE, sees_all=True)
    told = ToolProcesses(replace(setting, hold=hold_nothing), redactor).run(module, asking)
    answer = _read_answer(text_in(told, "stdout") or "")
    described = [object_of(each) for each in list_of(answer.get("tools"))]
    if not described:
        why = (
            text_in(answer, "error")
            or (text_in(told, "stderr") or "").strip()[-_PYTHON_TOOLS_SHOWN:]
            or "it has no functions"
        )
        raise Failure(f"--tools {quote(module)} cannot be used: {why}")
    for each in described:
        yield ProgramTool(_define(module, each), words, _read_result, sees_all=True, wraps=True)


_PYTHON_TOOLS_SHOWN = 1_000


def _define(module: str, told: Object) -> ToolDefinition:
    """Return the definition of a function; its schema must be one."""
    name, schema = text_in(told, "name") or "", told.get("schema")
    try:
        prepare(json.dumps(schema))
    except ValueError as error:
        raise Failure(f"--tools {quote(module)}: the schema of {quote(name)} cannot be used: {error}") from error
    effects = told.get("effects")
    known = effects if effects in {"read", "mutating"} else "unknown"
    return ToolDefinition(name, text_in(told, "description") or "", schema, str(known), "callable")


def _read_answer(output: str) -> Object:
    try:
        return object_of(parse_json(output))
    except UnreadableError:
        return {}


def _read_result(output: str) -> Json:
    """Return the value of a function, or raise `ToolError`."""
    answer = _read_answer(output)
    if "value" in answer:
        found = find_unreadable(answer["value"])
        if found is not None:
            raise ToolError(f"its result cannot be read: {found}")
        return answer["value"]
    raise ToolError(text_in(answer, "error") or "it has ended without a result, or its result is too long")


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


_SHELL_SHOWN = 20_000
"""Characters of each output that a model is told: the status and the end of both must have room in one result."""


def _cut(output: Json) -> str:
    """Return the beginning and the end of an output."""
    text = str(output)
    left = len(text) - _SHELL_SHOWN
    half = _SHELL_SHOWN // 2
    return text if left <= 0 else f"{text[:half]}\n[{left:,} characters are left out]\n{text[-half:]}"
