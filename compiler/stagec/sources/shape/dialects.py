"""Differences between the drafts of JSON Schema: the keywords of each, and the positions of subschemas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any

from stagec.core.json import Json, Object
from stagec.core.place import Key, Pointer
from stagec.core.value import value
from stagec.sources.shape.subschemas import KEYWORDS, NAMED

DIALECTS = {
    "http://json-schema.org/draft-04/schema": "Draft4Validator",
    "http://json-schema.org/draft-06/schema": "Draft6Validator",
    "http://json-schema.org/draft-07/schema": "Draft7Validator",
    "https://json-schema.org/draft/2019-09/schema": "Draft201909Validator",
    "https://json-schema.org/draft/2020-12/schema": "Draft202012Validator",
}
"""The address of each draft, and the library's class for it."""


class Dialect(IntEnum):
    """A draft of JSON Schema; later ones are greater."""

    FOUR = 0
    SIX = 1
    SEVEN = 2
    OF_2019 = 3
    OF_2020 = 4

    @classmethod
    def of(cls, schema: Object, outer: Dialect) -> Dialect:
        """Return the draft that a schema names; `outer` if it names no known draft."""
        named = schema.get("$schema")
        return _BY_ADDRESS.get(named.removesuffix("#"), outer) if isinstance(named, str) else outer

    @property
    def address(self) -> str:
        """The value of `$schema` in this draft."""
        return f"{tuple(DIALECTS)[self]}#" if self < Dialect.OF_2019 else tuple(DIALECTS)[self]

    @property
    def title(self) -> str:
        """The name of the draft."""
        return _TITLES[self]

    @property
    def hears_siblings(self) -> bool:
        """Whether validators look at what stands beside a `$ref`."""
        return self >= Dialect.OF_2019


def draft_at(root: Json, pointer: Pointer) -> Dialect:
    """Return the draft that a part of a schema is in: it names it, or one of the schemas around it does."""
    given: Any = root
    draft = LATEST
    for length in range(len(pointer) + 1):
        draft = Dialect.of(given, draft) if isinstance(given, dict) else draft
        given = _step(given, pointer[length]) if length < len(pointer) else None
    return draft


def _step(given: Any, key: Key) -> Any:
    try:
        return given[key]
    except (KeyError, IndexError, TypeError):
        return None


_TITLES = ("draft-04", "draft-06", "draft-07", "2019-09", "2020-12")
_BY_ADDRESS = dict(zip(DIALECTS, Dialect, strict=True))
LATEST = Dialect.OF_2020
"""The draft of a schema that names none."""

_SINCE = {
    **dict.fromkeys(("const", "contains", "propertyNames"), Dialect.SIX),
    **dict.fromkeys(("if", "then", "else"), Dialect.SEVEN),
    **dict.fromkeys(("dependentRequired", "dependentSchemas", "maxContains", "minContains"), Dialect.OF_2019),
    **dict.fromkeys(("$recursiveRef", "unevaluatedItems", "unevaluatedProperties"), Dialect.OF_2019),
    **dict.fromkeys(("$dynamicRef", "prefixItems"), Dialect.OF_2020),
}
_REMARKED_SINCE = {
    "examples": Dialect.SIX,
    **dict.fromkeys(("$comment", "readOnly", "writeOnly", "contentEncoding", "contentMediaType"), Dialect.SEVEN),
    **dict.fromkeys(("$anchor", "$recursiveAnchor", "contentSchema", "deprecated", "$vocabulary"), Dialect.OF_2019),
    "$dynamicAnchor": Dialect.OF_2020,
}
"""Members that say nothing about a value, but have to have a certain form since a draft."""
_UNTIL = {"$recursiveRef": Dialect.OF_2019, "additionalItems": Dialect.OF_2019, "dependencies": Dialect.SEVEN}
INCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
"""The bounds that are numbers of their own since draft-06, and those that they were a remark on before."""


def is_known(keyword: str, given: Json, draft: Dialect) -> bool:
    """Tell whether a member means something in a draft, in the form in which it is written, or nothing special."""
    if keyword == "items" and isinstance(given, list):
        return draft <= Dialect.OF_2019
    if keyword in INCLUSIVE:
        return isinstance(given, bool) == (draft is Dialect.FOUR)
    first, last = range_of(keyword)
    return _REMARKED_SINCE.get(keyword, first) <= draft <= last


REMARKS = frozenset(
    {
        *("$ref", "$defs", "definitions", "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"),
        *("$comment", "$vocabulary", "title", "description", "default", "examples", "deprecated", "readOnly"),
        "writeOnly",
    },
)
"""Keywords that say nothing about a value."""
_SILENCED = KEYWORDS - REMARKS


def drop_ignored(schema: Object, draft: Dialect) -> Object:
    """Return the part of a schema that counts in its draft, or the schema itself; the order of members is kept."""
    ignored = list_ignored(schema, draft)
    return {key: given for key, given in schema.items() if key not in ignored} if ignored else schema


def list_ignored(schema: Object, draft: Dialect) -> tuple[str, ...]:
    """Return the keywords of a schema that say nothing in its draft, though they do in another or elsewhere.

    No draft that has replaced `dependencies` forbids it, and validators still heed it.
    """
    unknown = _UNKNOWN[draft]
    is_alone = not draft.hears_siblings and isinstance(schema.get("$ref"), str)
    if not is_alone and unknown.isdisjoint(schema):
        return ()
    return tuple(key for key in schema if key in unknown or (is_alone and key in _SILENCED))


def read_in(schema: Object, draft: Dialect) -> Object:
    """Return the same, with its bounds in the form of later drafts; the schema itself if possible."""
    schema = drop_ignored(schema, draft)
    if draft is not Dialect.FOUR or INCLUSIVE.keys().isdisjoint(schema):
        return schema
    found = {key: each for key, each in schema.items() if key not in INCLUSIVE}
    for exclusive, bound in INCLUSIVE.items():
        if schema.get(exclusive) is True and bound in found:
            found[exclusive] = found.pop(bound)
    return found


def range_of(keyword: str) -> tuple[Dialect, Dialect]:
    """Return the first and the last draft that know a keyword."""
    return _SINCE.get(keyword, Dialect.FOUR), _UNTIL.get(keyword, LATEST)


_UNKNOWN = {
    draft: frozenset(each for each in (*_SINCE, *_UNTIL) if each != "dependencies" and not is_known(each, None, draft))
    for draft in Dialect
}

_ONES = frozenset(
    {
        *("additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not"),
        *("propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"),
    },
)
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "items", "prefixItems"})


@value
class DialectPart:
    """A schema inside a schema: where it stands, and its draft.

    The schema of the draft of what is around a part does not look at one that is `apart`.
    """

    pointer: Pointer
    value: Object
    draft: Dialect
    apart: bool

    def list_inside(self, *, members: bool) -> Iterator[tuple[Pointer, Object]]:
        """Yield the objects inside the part, each with the way to it."""
        for key, given in self.value.items():
            if not isinstance(given, dict | list) or key in _UNKNOWN[self.draft]:
                continue
            held: Iterable[tuple[Pointer, Json]] = ()
            if isinstance(given, list):
                held = (((key, index), each) for index, each in enumerate(given)) if key in _LISTS else ()
            elif key in NAMED:
                held = (((key, name), each) for name, each in given.items())
            elif key in _ONES or (members and key not in KEYWORDS):
                held = (((key,), given),)
            yield from ((way, each) for way, each in held if isinstance(each, dict))


def list_dialect_parts(root: Object, outer: Dialect, *, members: bool) -> Iterator[DialectPart]:
    """Yield a schema and every schema inside it, where its draft says that one stands, and definitions in any draft.

    `outer` is the draft of what is around it. With `members`, those of the root that are no keywords are schemas of
    their own.
    """
    waiting = [DialectPart((), root, Dialect.of(root, outer), True)]
    while waiting:
        part = waiting.pop()
        yield part
        for way, inner in part.list_inside(members=members and not part.pointer):
            own = Dialect.of(inner, part.draft)
            is_apart = own is not part.draft or way[0] not in KEYWORDS
            is_apart = is_apart or (way[0] == "$defs" and not part.draft.hears_siblings)
            waiting.append(DialectPart((*part.pointer, *way), inner, own, is_apart))


def is_seen(root: Json, pointer: Pointer, *, members: bool) -> bool:
    """Tell whether `list_dialect_parts` comes upon the schema at a pointer into another one."""
    given: Any = root
    draft, at = LATEST, 0
    while isinstance(given, dict):
        draft = Dialect.of(given, draft)
        if at == len(pointer):
            return True
        key = pointer[at]
        held = given.get(key) if isinstance(key, str) and key not in _UNKNOWN[draft] else None
        # how many steps of a pointer lead from a schema to one inside it, none where none does
        if isinstance(held, list):
            through = 2 if key in _LISTS else 0
        else:
            through = 2 if key in NAMED else int(key in _ONES or ((members and at == 0) and key not in KEYWORDS))
        if not through or at + through > len(pointer):
            return False
        given = held if through == 1 else _step(held, pointer[at + 1])
        at += through
    return False


DOUBTFUL = frozenset({"$ref", *INCLUSIVE}).union(*_UNKNOWN.values())
"""Keywords of a schema that may not count in its draft."""
