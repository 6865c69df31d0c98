"""The tools of a run: who has which, and one place in which calls are carried out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Protocol

from stagec.core.json import Json, Object
from stagec.core.secrets import Redactor
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.plan.document import Plan
from stagec.runtime.exchange import Call, Effect
from stagec.world.briefing import PlannedTools, ToolDefinition

LONGEST = 100_000
"""Characters of a result that a model is told; the rest is left out, and the model is told so."""


class ToolError(Exception):
    """A call that a tool could not carry out; `str()` says why, for the model."""


class ToolSource(Protocol):
    """What has tools and carries out their calls; several calls may be under way."""

    def define(self, name: str) -> ToolDefinition | None:
        """Return a tool, or nothing if it is not here."""

    def call(self, key: str, tool: str, arguments: Object) -> Json:
        """Carry a call out and return its result, or raise `ToolError`; `key` is the same when it is made again."""

    def cancel(self, key: str) -> None:
        """End a call whose result nobody needs any more, if it is under way here."""

    def close(self) -> None:
        """Let go of whatever was opened."""


class Toolbox:
    """Carries out the calls of stages and of steps; a tool belongs to the first source that has it.

    Which tools a node may call is decided before: by the machine for stages, by the allow-list for steps.
    """

    def __init__(self, plan: Plan, sources: Iterable[ToolSource], redactor: Redactor) -> None:
        self._planned = PlannedTools(plan)
        self._sources = tuple(sources)
        self._redactor = redactor

    def define(self, names: Iterable[str]) -> tuple[ToolDefinition, ...]:
        """Return the definitions of tools in their order; the plan's own effects and origin count where it has them."""
        return tuple(map(self._define, names))

    def _define(self, name: str) -> ToolDefinition:
        (planned,) = self._planned.define((name,))
        found = next((tool for each in self._sources if (tool := each.define(name)) is not None), None)
        if found is None:
            return planned
        schema = found.schema if planned.schema is None else planned.schema
        return replace(planned, description=found.description, schema=schema)

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
            return _error("Unavailable", f"nothing carries out {quote(tool)} here")
        if not isinstance(arguments, dict):
            return _error("InvalidArguments", "the arguments are no object")
        try:
            return {"value": self._clean(source.call(key, tool, arguments))}
        except ToolError as error:
            return _error("Failed", self._shorten(str(error)))

    def cancel(self, key: str) -> None:
        """End a call whose result nobody needs any more."""
        for each in self._sources:
            each.cancel(key)

    def close(self) -> None:
        """Let go of whatever the sources have opened."""
        for each in self._sources:
            each.close()

    def _find(self, tool: str) -> ToolSource | None:
        return next((each for each in self._sources if each.define(tool) is not None), None)

    def _clean(self, result: Json) -> Json:
        """Return a result without secrets: what is no text stays what it is, unless it is too long or too deep."""
        if result is None or isinstance(result, bool | int | float):
            return result
        if isinstance(result, str):
            return self._shorten(result)
        try:
            text = self._redactor.redact(json.dumps(result, ensure_ascii=False))
            found: Json = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ToolError("its result is no JSON that can be told") from error
        return found if len(text) <= LONGEST else self._shorten(text)

    def _shorten(self, text: str) -> str:
        told = self._redactor.redact(text)
        return told if len(told) <= LONGEST else f"{told[:LONGEST]}\n[{len(told) - LONGEST:,} characters are left out]"


def _error(code: str, message: str) -> Object:
    return {"error": {"class": "Tool", "code": code, "message": message}}


def read_text(arguments: Object, *names: str, default: str | None = None) -> str:
    """Return the first argument of some names that is a text, or raise `ToolError`."""
    for name in names:
        given = arguments.get(name)
        if isinstance(given, str):
            return given
    if default is None:
        raise ToolError(f"the argument {quote(names[0])} is missing, or no text")
    return default


def read_count(arguments: Object, name: str, default: int) -> int:
    """Return an argument that is a whole number from 0 on, or raise `ToolError`."""
    given = arguments.get(name, default)
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    if not isinstance(given, int) or isinstance(given, bool) or given < 0:
        raise ToolError(f"the argument {quote(name)} must be a whole number")
    return given
