"""Python callables as tools: the functions of modules that the user names, each call in a process of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.json_reader import UnreadableError, find_unreadable, parse_json
from stagec.core.secrets import Redactor
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.runtime.answer_schemas import prepare
from stagec.world.request_json import ToolDefinition
from stagec.world.tools.processes import ToolProcesses, ToolProgram, ToolSetting, hold_nothing
from stagec.world.tools.programs import ProgramTool, ProgramTools
from stagec.world.tools.toolbox import ToolError

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
        why = text_in(answer, "error") or (text_in(told, "stderr") or "").strip()[-_SHOWN:] or "it has no functions"
        raise Failure(f"--tools {quote(module)} cannot be used: {why}")
    for each in described:
        yield ProgramTool(_define(module, each), words, _read_result, sees_all=True, wraps=True)


_SHOWN = 1_000


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
