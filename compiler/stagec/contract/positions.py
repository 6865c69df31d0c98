"""What stands where in a schema: other schemas, names and lists of them, or data that only look like it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from stagec.core.json import Json
from stagec.core.place import Key
from stagec.sources.shape.subschemas import DATA, NAMED


class SchemaPart(Enum):
    """What a part of a schema is."""

    SCHEMA = "schema"
    """A schema, or a plain value inside one."""
    NAMED = "named"
    """Schemas by name; a name means nothing, even that of a keyword."""
    LISTED = "listed"
    DATA = "data"
    """A value that is compared with, or an example: nothing in it refers to anything."""


_DATA = DATA | {"example"}


def position(outer: SchemaPart, key: Key, inner: Json) -> SchemaPart:
    """Return what a member is of a part that is no data; the members of keywords that nobody knows are schemas."""
    if outer is SchemaPart.SCHEMA and key in _DATA:
        return SchemaPart.DATA
    if isinstance(inner, list):
        return SchemaPart.LISTED
    named = outer is SchemaPart.SCHEMA and key in NAMED and isinstance(inner, dict)
    return SchemaPart.NAMED if named else SchemaPart.SCHEMA


def parts(outer: SchemaPart, given: Json) -> Iterator[tuple[Key, Json, SchemaPart]]:
    """Yield the objects and lists directly inside a part that can be or hold schemas, with their keys."""
    members: Iterable[tuple[Key, Json]] = given.items() if isinstance(given, dict) else ()
    for key, inner in enumerate(given) if isinstance(given, list) else members:
        if isinstance(inner, dict | list) and (stands := position(outer, key, inner)) is not SchemaPart.DATA:
            yield key, inner, stands
