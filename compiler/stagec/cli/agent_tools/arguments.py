"""The arguments of a tool: their schema, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import value
from stagec.core.words import quote

T = TypeVar("T")

_TYPES: Mapping[str, type] = {"boolean": bool, "integer": int, "object": dict, "string": str}
MOST = 200
"""Members of a list that one answer has at most."""
_LARGEST = 10**9


@value
class Argument:
    """One argument: its type as JSON Schema calls it, what it means, and what it is where it is not given."""

    name: str
    type: str
    description: str
    default: Json = None
    is_required: bool = False
    choices: tuple[str, ...] = ()

    @property
    def schema(self) -> Object:
        """The schema of the value; an object has texts."""
        schema: dict[str, Json] = {"type": self.type, "description": self.description}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.default is not None:
            schema["default"] = self.default
        if self.type == "integer":
            schema |= {"minimum": 0, "maximum": _LARGEST}
        if self.type == "object":
            schema["additionalProperties"] = {"type": "string"}
        return schema

    def read(self, given: Json) -> Json:
        """Return a value of the right type; raise `Failure` for another one."""
        if given is None:
            return self.default
        fits = type(given) is _TYPES[self.type]
        if type(given) is int:
            fits = fits and 0 <= given <= _LARGEST
        if isinstance(given, dict):
            fits = fits and all(isinstance(each, str) for each in given.values())
        if not fits:
            wanted = "an object of texts" if self.type == "object" else f"of type {self.type}"
            raise Failure(f"the argument {quote(self.name)} must be {wanted}")
        if self.choices and given not in self.choices:
            raise Failure(f"the argument {quote(self.name)} must be one of {', '.join(self.choices)}")
        return given


def write_schema(arguments: Sequence[Argument]) -> Object:
    """Return the schema of all arguments of a tool."""
    return {
        "type": "object",
        "properties": {each.name: each.schema for each in arguments},
        "required": [each.name for each in arguments if each.is_required],
        "additionalProperties": False,
    }


def read_arguments(arguments: Sequence[Argument], given: Object) -> Mapping[str, Any]:
    """Return a value for each argument; raise `Failure` for one that is not known, is missing or has a wrong type."""
    known = [each.name for each in arguments]
    for name in given:
        if name not in known:
            near = hint(name, NameIndex(known)) or f"; there are {', '.join(known)}"
            raise Failure(f"there is no argument {quote(name)}{near}")
    missing = [each.name for each in arguments if each.is_required and given.get(each.name) is None]
    if missing:
        raise Failure(f"the argument {quote(missing[0])} is missing")
    return {each.name: each.read(given.get(each.name)) for each in arguments}


LIMIT = Argument("limit", "integer", f"The most that are listed, at most {MOST}.", 10)
OFFSET = Argument("offset", "integer", "How many to leave out at the beginning: the `next` of the answer before.", 0)
FLOW = Argument("flow", "string", "Only the flow with this id.")
TEXTS = Argument(
    "texts",
    "object",
    "Texts that stand for files, by path relative to the project: try an edit before you write it. Nothing is written.",
)


def cut(every: Sequence[T], given: Mapping[str, Any]) -> tuple[Sequence[T], int | None]:
    """Return the part of a list that was asked for, and where the next part begins; None at the end."""
    start, limit = given["offset"], min(MOST, given["limit"])
    end = start + limit
    return every[start:end], end if end < len(every) and limit else None
