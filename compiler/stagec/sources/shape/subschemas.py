"""The subschemas of a schema with their positions, and references that lead out of the project."""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from enum import Enum
from urllib.parse import unquote

from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.nearest import NameIndex
from stagec.core.place import Key, Place, Pointer
from stagec.core.value import value
from stagec.sources.read import join
from stagec.sources.tree import Fault

DATA = frozenset({"const", "default", "enum", "examples"})
"""Keywords whose value is no schema, whatever it looks like."""
_NO_SCHEMAS = DATA | {"dependentRequired"}
"""The same, and the keyword whose value lists names of properties by name."""
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
    """A schema and where it stands in its file; it is `certain` unless it is in a member that no dialect knows."""

    pointer: Pointer
    value: Object
    certain: bool = True


def subschemas(root: Json) -> Iterator[Subschema]:
    """Return a schema and all schemas inside it, each once; the members of the root may be schemas of any name."""
    waiting: list[tuple[Pointer, Json, bool]] = [((), root, True)]
    while waiting:
        pointer, each, certain = waiting.pop()
        if isinstance(each, dict):
            yield Subschema(pointer, each, certain)
            for way, member in _inside(each):
                waiting.append((pointer + way, member, certain and (not pointer or way[0] in KEYWORDS)))
        elif isinstance(each, list):
            waiting.extend(((*pointer, index), member, certain) for index, member in enumerate(each))


def _inside(schema: Object) -> Iterator[tuple[tuple[Key, ...], Json]]:
    for key, member in schema.items():
        if key in NAMED and isinstance(member, dict):
            for name, named in member.items():
                yield (key, name), named
        elif key not in _NO_SCHEMAS and isinstance(member, (dict, list)):
            yield (key,), member


_ANNOTATIONS = frozenset({"comment", "example", "markdownDescription"})
"""Members that other tools read and that only look like misspelt keywords."""
_KNOWN = NameIndex(KEYWORDS)


def report_repetitions(at: Place, parts: Iterable[Subschema], told: Collection[Place]) -> Iterator[Fault]:
    """State which values an `enum` has twice, where nothing else is wrong with it; lists and objects are not compared.

    As in JSON, `1` and `1.0` are one value, `1` and `true` are two.
    """
    for part in parts:
        listed = part.value.get("enum")
        if not isinstance(listed, list):
            continue
        place = Place(at.file, (*at.pointer, *part.pointer, "enum"))
        firsts: dict[tuple[bool, Json], int] = {}
        for index, each in enumerate(listed if place not in told else ()):
            is_plain = not isinstance(each, (list, dict))
            first = firsts.setdefault((isinstance(each, bool), each), index) if is_plain else index
            if first != index:
                yield Fault("repeated-enum-value", place / index, facts={"got": each, "first": place / first})


def report_rounded(at: Place, parts: Iterable[Subschema]) -> Iterator[Fault]:
    """State the whole numbers that values are compared with and no double holds, with the nearest that one does."""
    for part in parts:
        listed = enumerate(list_of(part.value.get("enum")))
        bounds = [((keyword,), part.value[keyword]) for keyword in _BOUNDS if keyword in part.value]
        for way, given in (*((("enum", index), each) for index, each in listed), *bounds):
            held = _hold(given)
            if held != given:
                place = Place(at.file, (*at.pointer, *part.pointer, *way))
                yield Fault("rounded-number", place, facts={"number": given, "held": held})


_BOUNDS = ("const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def _hold(given: Json) -> Json:
    try:
        return int(float(given)) if isinstance(given, int) and not isinstance(given, bool) else given
    except OverflowError:  # no program holds it at all
        return given


def report_slips(at: Place, parts: Iterable[Subschema]) -> Iterator[Fault]:
    """State which members are most likely misspelt keywords, and which requirements misspell a declared property."""
    for part in parts:
        unknown = part.value.keys() - KEYWORDS
        if not part.certain or not (unknown or "required" in part.value):
            continue
        there = Place(at.file, (*at.pointer, *part.pointer))
        for key in [each for each in part.value if each in unknown]:
            near = _KNOWN.slip(key) if key not in _ANNOTATIONS else None
            is_schema = isinstance(part.value[key], dict) and not there.pointer  # of a file the name may be a step's
            if near is not None and near not in part.value and not is_schema:
                yield Fault("misspelt-keyword", (there / key).key, facts={"name": key, "meant": near})
        yield from _report_requirements(there, part.value)


def _report_requirements(at: Place, schema: Object) -> Iterator[Fault]:
    required, declared = list_of(schema.get("required")), object_of(schema.get("properties"))
    if not declared or all(each in declared for each in required if isinstance(each, str)):
        return
    free = NameIndex(name for name in declared if name not in required)
    for index, name in enumerate(required):
        near = free.slip(name) if isinstance(name, str) and name not in declared else None
        if near is not None:
            place = at / "required" / index
            related = ((at / "properties" / near).key, "declared here")
            yield Fault("misspelt-requirement", place, facts={"name": name, "meant": near}, related=(related,))


_KEYWORDS = ("$ref", "$dynamicRef", "$recursiveRef")
_REFERRING = frozenset(_KEYWORDS)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")


def identities(parts: Iterable[Subschema]) -> frozenset[str]:
    """Return the names that the schemas of a file give themselves; a reference to one stays in the file."""
    named = (part.value.get(key) for part in parts for key in ("$id", "id"))
    return frozenset(each.removesuffix("#") for each in named if isinstance(each, str))


def foreign(at: Place, parts: Iterable[Subschema], own: Collection[str]) -> Iterator[Fault]:
    """State every reference that names another machine, an absolute path, or a file outside the project."""
    folder = posixpath.dirname(at.file)
    for part in parts:
        for keyword in () if _REFERRING.isdisjoint(part.value) else _KEYWORDS:
            reference = part.value.get(keyword)
            reason = _reason(reference, folder, own) if isinstance(reference, str) else ""
            if reason:
                place = Place(at.file, (*at.pointer, *part.pointer, keyword))
                yield Fault("foreign-reference", place, reason, {"reference": reference})


def _reason(reference: str, folder: str, own: Collection[str]) -> str:
    document = reference.partition("#")[0]
    if not document or document in own:
        return ""
    path = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), document)
    if _SCHEME.match(path):
        return "scheme"
    if path.startswith(("/", "\\")):
        return "absolute"
    return "outside" if join(folder, path) is None else ""


class SchemaPart(Enum):
    """The kind of a part of a schema."""

    SCHEMA = "schema"
    """A schema, or a plain value inside one."""
    NAMED = "named"
    """Schemas by name; a name means nothing, even that of a keyword."""
    LISTED = "listed"
    DATA = "data"
    """A value that is compared with, or an example: nothing in it refers to anything."""


_DATA = DATA | {"example"}


def position(outer: SchemaPart, key: Key, inner: Json) -> SchemaPart:
    """Return the kind of a member of a part that is no data; the members of unknown keywords are schemas."""
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


def tokens(pointer: str) -> tuple[str, ...]:
    """Return the names a JSON Pointer goes through: split `#/a~1b/c%20d` or `/a~1b/c%20d` into `("a/b", "c d")`."""
    names = pointer.removeprefix("#").split("/")[1:]
    return tuple(unquote(name).replace("~1", "/").replace("~0", "~") for name in names)


def index_of(token: str) -> int:
    """Return the index that a token of a pointer names; what names none is an index beyond every array."""
    return int(token) if token.isascii() and token.isdecimal() and len(token) < _DIGITS else sys.maxsize


_DIGITS = 10
