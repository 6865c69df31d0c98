"""What a schema promises about a path: whether a valid value has something there, and which values that can be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

from stagec.contract.choices import Choices, choices
from stagec.contract.schemas import Miss, Schema, Schemas
from stagec.core.json import Json, Object
from stagec.core.place import Place
from stagec.core.value import value


class Presence(StrEnum):
    """Whether a valid value has something at a path."""

    SURE = "sure"
    """Always: the path is required at every level."""
    POSSIBLE = "possible"
    """The schema declares it, and a value may leave it out."""
    UNDECLARED = "undeclared"
    """No part of the schema speaks of it, and none forbids it."""
    IMPOSSIBLE = "impossible"
    """The schema forbids it: it is closed there, or the path leads through something that is no object."""
    UNKNOWABLE = "unknowable"
    """Cannot tell: a part of the schema cannot be read, or says something too involved."""


@value
class Promise:
    """What a schema says about one path.

    `parts` are the schemas that speak of a value at the path; `optional` is the schema that lets the first part of the
    path that is not required be left out; `followed` is how many parts of the path could be followed. `sole` tells that
    all parts hold together, False that some are alternatives.
    """

    presence: Presence
    parts: tuple[Schema, ...] = ()
    optional: Schema | None = None
    followed: int = 0
    sole: bool = True


def promise(schemas: Schemas, schema: Schema, path: Iterable[str]) -> Promise:
    """Return what a schema promises about a path of member names."""
    group: tuple[Schema, ...] = (schema,)
    optional: Schema | None = None
    followed, sole = 0, True
    for name in path:
        found = _member(schemas, group, name, frozenset())
        if not found.known:
            return Promise(Presence.UNKNOWABLE, (), optional, followed)
        if found.forbidden or not found.parts:
            gone = Presence.IMPOSSIBLE if found.forbidden else Presence.UNDECLARED
            return Promise(gone, (), optional, followed)
        if not found.required and optional is None:
            optional = group[0]
        group, sole = tuple({part.at: part for part in found.parts}.values()), sole and found.sole
        followed += 1
    return Promise(Presence.SURE if optional is None else Presence.POSSIBLE, group, optional, followed, sole)


def possible_values(schemas: Schemas, promised: Promise) -> tuple[Json, ...] | None:
    """Return the values that can stand at a promised path, None when the schema does not name them one by one."""
    listed = [each for part in promised.parts for each in _lists(schemas, part)]
    if not listed or not promised.sole:
        return None
    first, *others = listed
    common = [frozenset(map(_identity, other)) for other in others]
    return tuple(each for each in first if all(_identity(each) in other for other in common))


def excluded(schemas: Schemas, named: Choices, promised: Promise) -> tuple[tuple[Json, Place], ...]:
    """Return the values that one list names and another part of the schema rules out, with their places."""
    possible = possible_values(schemas, promised)
    if possible is None:
        return ()
    known = frozenset(map(_identity, possible))
    return tuple((each, at) for each, at in named.values if _identity(each) not in known)


@value
class _Member:
    """What a group of schemas that apply together says about one member."""

    parts: tuple[Schema, ...] = ()
    required: bool = False
    forbidden: bool = False
    known: bool = True
    sole: bool = True


def _member(schemas: Schemas, group: Iterable[Schema], name: str, seen: frozenset[Place]) -> _Member:
    """Combine what all layers of all schemas of a group say: they hold together."""
    said = [
        _layer(schemas, layer, name, seen) if isinstance(layer, Schema) else _Member(known=False)
        for schema in group
        for layer in schemas.layers(schema)
    ]
    parts = tuple(part for each in said for part in each.parts)
    known = all(each.known for each in said) or bool(parts)
    required, forbidden = any(each.required for each in said), any(each.forbidden for each in said)
    return _Member(parts, required, forbidden, known, all(each.sole for each in said))


_MOST_ALTERNATIVES = 40
"""Alternatives inside each other that are followed, references included."""


def _layer(schemas: Schemas, layer: Schema, name: str, seen: frozenset[Place]) -> _Member:
    body = layer.value
    if not isinstance(body, dict) or layer.at in seen:
        return _Member(forbidden=body is False)
    if len(seen) >= _MOST_ALTERNATIVES:
        return _Member(known=False)
    if not _may_hold(body, name):
        return _Member(forbidden=True)
    own = _own(layer, body, name)
    branches = [_branch(schemas, each, name, seen | {layer.at}) for each in _alternatives(layer, body)]
    return _joined([own, *branches], closed=_closes(body) and not own.parts)


def _own(layer: Schema, body: Object, name: str) -> _Member:
    """Return what a schema itself says about a member, apart from its alternatives."""
    parts = tuple(_declared(layer, body, name)) or tuple(_others(layer, body, name))
    required = body.get("required")
    sure = isinstance(required, list) and name in required
    return _Member(parts, sure, any(part.value is False for part in parts))


def _branch(schemas: Schemas, alternatives: tuple[Schema, ...], name: str, seen: frozenset[Place]) -> _Member:
    """Return what alternatives say: one of them holds, so what only some say is possible and never certain."""
    said = [_member(schemas, (each,), name, seen) for each in alternatives]
    allowed = [each for each in said if not each.forbidden]
    parts = tuple(part for each in allowed for part in each.parts)
    required, known = all(each.required for each in said), all(each.known for each in said)
    return _Member(parts, required, not allowed, known, sole=not parts)


def _joined(said: list[_Member], *, closed: bool) -> _Member:
    parts = tuple(part for each in said for part in each.parts)
    forbidden = any(each.forbidden for each in said) or (closed and not parts)
    required, known = any(each.required for each in said), all(each.known for each in said)
    return _Member(parts, required, forbidden, known, all(each.sole for each in said))


def _declared(layer: Schema, body: Object, name: str) -> Iterator[Schema]:
    own = body.get("properties")
    if isinstance(own, dict) and name in own:
        yield Schema(own[name], layer.at / "properties" / name)
    patterns = body.get("patternProperties")
    if isinstance(patterns, dict):
        at = layer.at / "patternProperties"
        yield from (Schema(inner, at / pattern) for pattern, inner in patterns.items() if _fits(pattern, name))


def _others(layer: Schema, body: Object, name: str) -> Iterator[Schema]:
    """Yield what is said of members and elements that are not named one by one."""
    elsewhere = "items" if name.isdecimal() else "additionalProperties"
    if isinstance(body.get(elsewhere), dict):
        yield Schema(body[elsewhere], layer.at / elsewhere)


def _alternatives(layer: Schema, body: Object) -> Iterator[tuple[Schema, ...]]:
    for keyword in ("anyOf", "oneOf"):
        branches = body.get(keyword)
        if isinstance(branches, list) and branches:
            yield tuple(Schema(each, layer.at / keyword / index) for index, each in enumerate(branches))
    conditional = [Schema(body[key], layer.at / key) for key in ("then", "else") if "if" in body and key in body]
    if conditional:
        yield (*conditional, *(Schema(True, layer.at / "if") for _ in range(2 - len(conditional))))


_PLAIN_PATTERN = re.compile(r"\^?[\w -]*\$?")


def _fits(pattern: str, name: str) -> bool:
    """Tell whether a pattern may match; only plain ones are tried, since a user's pattern is never run unbounded."""
    if not _PLAIN_PATTERN.fullmatch(pattern):
        return True
    text = pattern.removeprefix("^").removesuffix("$")
    starts, ends = pattern.startswith("^"), pattern.endswith("$")
    if starts and ends:
        return name == text
    return name.startswith(text) if starts else name.endswith(text) if ends else text in name


def _closes(body: Object) -> bool:
    return body.get("additionalProperties") is False or body.get("unevaluatedProperties") is False


def _may_hold(body: Object, name: str) -> bool:
    """Tell whether a value of the schema's type can have members at all, or elements where the name is an index."""
    types = body.get("type")
    allowed = [types] if isinstance(types, str) else types if isinstance(types, list) else ["object"]
    return "object" in allowed or ("array" in allowed and name.isdecimal())


def _lists(schemas: Schemas, schema: Schema) -> Iterator[tuple[Json, ...]]:
    """Yield every list of values that a schema's layers name, and both truth values for a boolean."""
    for layer in schemas.layers(schema):
        if isinstance(layer, Miss) or not isinstance(layer.value, dict):
            continue
        named = choices(schemas, Schema({**layer.value, "$ref": None, "allOf": None}, layer.at))
        if isinstance(named, Choices):
            yield tuple(each for each, _ in named.values)
        elif layer.value.get("type") == "boolean":
            yield (True, False)


def _identity(given: Json) -> tuple[object, ...]:
    """Return what two values share when JSON holds them for equal: `1` and `1.0`, but not `1` and `true`."""
    if isinstance(given, (str, int, float)):
        return isinstance(given, bool), given
    from json import dumps

    return (dumps(given, sort_keys=True),)
