"""Every schema inside a schema, found without following a reference."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.json import Json, Object
from stagec.core.place import Key, Pointer
from stagec.core.value import value

DATA = frozenset({"const", "default", "enum", "examples"})
"""Keywords whose value is no schema, whatever it looks like."""
NAMED = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"},
)
"""Keywords whose value holds schemas by name; the names mean nothing."""
KEYWORDS = frozenset(
    {
        *DATA,
        *NAMED,
        *("$anchor", "$comment", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef", "$ref"),
        *("$schema", "$vocabulary", "additionalItems", "additionalProperties", "allOf", "anyOf", "contains"),
        *("contentEncoding", "contentMediaType", "contentSchema", "dependentRequired", "deprecated", "description"),
        *("else", "exclusiveMaximum", "exclusiveMinimum", "format", "id", "if", "items", "maxContains", "maxItems"),
        *("maxLength", "maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties", "minimum"),
        *("multipleOf", "not", "oneOf", "pattern", "prefixItems", "propertyNames", "readOnly", "required", "then"),
        *("title", "type", "unevaluatedItems", "unevaluatedProperties", "uniqueItems", "writeOnly"),
    },
)
"""Every keyword of every dialect; a file's other members at the top are schemas of their own."""


@value
class Subschema:
    """A schema and where it stands in its file."""

    pointer: Pointer
    value: Object


def subschemas(root: Json) -> Iterator[Subschema]:
    """Return a schema and all schemas inside it, each once."""
    waiting: list[tuple[Pointer, Json]] = [((), root)]
    while waiting:
        pointer, each = waiting.pop()
        if isinstance(each, dict):
            yield Subschema(pointer, each)
            waiting.extend((pointer + way, member) for way, member in _inside(each))
        elif isinstance(each, list):
            waiting.extend(((*pointer, index), member) for index, member in enumerate(each))


def _inside(schema: Object) -> Iterator[tuple[tuple[Key, ...], Json]]:
    for key, member in schema.items():
        if key in NAMED and isinstance(member, dict):
            for name, named in member.items():
                yield (key, name), named
        elif key not in DATA and isinstance(member, (dict, list)):
            yield (key,), member
