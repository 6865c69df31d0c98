"""The tools of a run: the source of each, and one place that executes calls."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Protocol

from stagec.core.json import Json, Object, object_of
from stagec.core.json_reader import UnreadableError, find_unreadable, mend_text, read_json
from stagec.core.secrets import Redactor
from stagec.core.value import replace
from stagec.core.words import listing, quote
from stagec.ir.plan.document import Plan
from stagec.runtime.machine.answer_schemas import PreparedSchema, prepare
from stagec.runtime.machine.exchange import Call, Effect
from stagec.runtime.world.request_json import PlannedTools, ToolDefinition

LONGEST = 100_000
"""Characters of a result that a model is told; the rest is left out, and the model is told so."""
_UNKNOWN = "unknown"


class ToolError(Exception):
    """A call that a tool could not carry out; `str()` says why, for the model."""


class ToolSource(Protocol):
    """A source of tools, which executes their calls; several calls may be under way."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools that are here."""

    def define(self, name: str) -> ToolDefinition | None:
        """Return a tool, or None if it is not here."""

    def call(self, key: str, tool: str, arguments: Object) -> Json:
        """Carry a call out and return its result, or raise `ToolError`; `key` is the same when it is made again."""

    def cancel(self, key: str) -> None:
        """End a call whose result nobody needs any more, if it is under way here."""

    def close(self) -> None:
        """Let go of whatever was opened."""


class Toolbox:
    """Carries out the calls of stages and of steps; a tool belongs to the first source that has it.

    Whether a call may be made is decided before: by the machine for stages, by the policy for steps.
    """

    def __init__(self, plan: Plan, sources: Iterable[ToolSource], redactor: Redactor) -> None:
        self._planned = PlannedTools(plan)
        self._sources = tuple(sources)
        self._redactor = redactor
        self._judges: dict[str, PreparedSchema | None] = {}
        self.names = tuple(dict.fromkeys((*plan.tools, *(name for each in self._sources for name in each.names))))

    def define(self, names: Iterable[str]) -> tuple[ToolDefinition, ...]:
        """Return the definitions of tools in their order; the plan's own effects and origin count where it has them."""
        return tuple(map(self._define, names))

    def _define(self, name: str) -> ToolDefinition:
        (planned,) = self._planned.define((name,))
        found = next((tool for each in self._sources if (tool := each.define(name)) is not None), None)
        if found is None:
            return planned
        schema = found.schema if planned.schema is None else planned.schema
        effects = found.effects if planned.effects == _UNKNOWN else planned.effects
        origin = found.origin if planned.origin == _UNKNOWN else planned.origin
        description = planned.description or found.description
        return replace(planned, description=description, schema=schema, effects=effects, origin=origin)

    def takes(self, effect: Effect) -> bool:
        """Tell whether a call can be carried out here."""
        return isinstance(effect, Call) and self._find(effect.tool) is not None

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that calls may be under way beside each other."""
        return True

    def answer(self, effect: Effect) -> Json:
        """Carry a call of a stage out."""
        if not isinstance(effect, Call):
            raise TypeError(effect)
        return self.call(effect.key, effect.tool, effect.arguments)

    def call(self, key: str, tool: str, arguments: Json) -> Object:
        """Return `{"value": …}` or `{"error": …}`, without secrets and not longer than a model is told."""
        source = self._find(tool)
        if source is None:
            return describe_error("Unavailable", f"nothing executes the tool {quote(tool)} here")
        if not isinstance(arguments, dict):
            return describe_error("InvalidArguments", "the arguments are not an object")
        complaint = self._judge(tool, arguments)
        if complaint is not None:
            return describe_error(
                "InvalidArguments", self._shorten(f"the arguments do not satisfy the schema: {complaint}")
            )
        try:
            return {"value": self._clean(source.call(key, tool, arguments))}
        except ToolError as error:
            return describe_error("Failed", self._shorten(str(error)))

    def cancel(self, key: str) -> None:
        """End a call whose result nobody needs any more."""
        for each in self._sources:
            each.cancel(key)

    def close(self) -> None:
        """Let go of whatever the sources have opened."""
        for each in self._sources:
            each.close()

    def _judge(self, tool: str, arguments: Object) -> str | None:
        """Return the mistake in the arguments by the schema that the model got; a server judges others."""
        if tool not in self._judges:
            self._judges[tool] = _prepare(self._define(tool).schema)
        judge = self._judges[tool]
        return None if judge is None else judge.complaint(arguments)

    def _find(self, tool: str) -> ToolSource | None:
        return next((each for each in self._sources if each.define(tool) is not None), None)

    def _clean(self, result: Json) -> Json:
        """Return a result without secrets: what is no text stays what it is, unless it is too long or too deep."""
        if isinstance(result, str):
            return self._shorten(result)
        try:
            text = mend_text(json.dumps(result, ensure_ascii=False))
            found = read_json(text)
            hidden = self._redactor.redact_json(text, is_output=True)
        except UnreadableError as error:
            raise ToolError(f"its result cannot be read: {error}") from error
        except (TypeError, ValueError, RecursionError) as error:
            raise ToolError(f"its result cannot be read: {find_unreadable(result) or error}") from error
        if hidden != text:
            text, found = hidden, json.loads(hidden)
        return found if len(text) <= LONGEST else self._shorten(text)

    def _shorten(self, text: str) -> str:
        told = mend_text(self._redactor.redact_output(text))
        return told if len(told) <= LONGEST else f"{told[:LONGEST]}\n[{len(told) - LONGEST:,} characters are left out]"


def _prepare(schema: Json) -> PreparedSchema | None:
    """Return the prepared schema; None without a usable one."""
    try:
        return None if schema is None else prepare(json.dumps(schema))
    except (ValueError, RecursionError):
        return None


def describe_error(code: str, message: str) -> Object:
    """Return a call that came to nothing as its result."""
    return {"error": {"class": "Tool", "code": code, "message": message}}


_REFUSED = frozenset({"Denied", "Unavailable", "Cancelled"})


def is_refused(result: Object) -> bool:
    """Tell whether a call came to nothing because nobody made it."""
    error = object_of(result.get("error"))
    return error.get("class") == "Tool" and error.get("code") in _REFUSED


def read_text(arguments: Object, *names: str, default: str | None = None) -> str:
    """Return the argument that is a text under one of some names; two that differ are a `ToolError`, and none is."""
    found = {given for name in names if isinstance(given := arguments.get(name), str)}
    if len(found) > 1:  # whoever was asked about the call could not tell which one counts
        raise ToolError(f"give one of {listing(names, 'or')}, not several that differ")
    if found:
        return found.pop()
    if default is None:
        raise ToolError(f"the argument {quote(names[0])} is missing or not a text")
    return default


def read_count(arguments: Object, name: str, default: int) -> int:
    """Return an argument that is a whole number from 0 on, or raise `ToolError`."""
    given = arguments.get(name, default)
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise ToolError(f"the argument {quote(name)} must be a whole number")
    return given
