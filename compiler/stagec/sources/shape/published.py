"""The JSON Schemas that stagec publishes, each read and compiled at most once in a process."""

from __future__ import annotations

from functools import cache
from typing import Any, NoReturn

from stagec.core.json import Json, Object
from stagec.core.published import schema_file
from stagec.core.value import value


@value
class Published:
    """One published schema: as written, and compiled.

    `wanted` are the members that it wishes for without requiring them, each as a path in which `*` stands for every
    member, with the topic of its absence.
    """

    schema: Object
    validator: Any
    wanted: tuple[tuple[tuple[str, ...], str], ...]


@cache
def published(name: str) -> Published:
    """Return the schema `schemas/NAME.schema.json`, compiled."""
    import json

    with open(schema_file(name), encoding="utf-8") as file:
        schema = json.load(file)
    wanted = tuple((tuple(each["path"]), each["x-rules"]["required"]) for each in schema.get("x-wanted", ()))
    return Published(schema, compiled(schema), wanted)


def compiled(schema: Json, dialect: str = "Draft202012Validator") -> Any:
    """Compile a schema so that checking it opens nothing and takes time linear in what is checked.

    `dialect` names one of the library's classes.
    """
    import jsonschema_rs

    kind = getattr(jsonschema_rs, dialect)
    return kind(schema, retriever=refuse, validate_formats=False, pattern_options=jsonschema_rs.RegexOptions())


def refuse(uri: str) -> NoReturn:
    """Answer a library that asks for another document: never, whatever it is."""
    raise LookupError(f"{uri} is not looked up")
