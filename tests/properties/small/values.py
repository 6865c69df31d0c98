"""Schemas of few members, and all answers that are worth trying: every combination of a few values of each member."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import product
from random import Random
from typing import Any

import jsonschema_rs

Json = Any
_ABSENT = object()
_MOST = 400
"""Combinations that are tried of one schema."""
_FEW = 40
"""Answers that are kept of one schema."""
_MEMBERS: Mapping[str, tuple[Json, ...]] = {
    "k": ({"enum": ["a", "b"]}, {"enum": ["a", "b", "c"]}, {"const": "a"}, {"type": "string"}),
    "b": ({"type": "boolean"}, {"const": True}),
    "n": ({"enum": [1, 2]}, {"type": "integer", "minimum": 1, "maximum": 2}, {"type": ["integer", "null"]}),
    "o": (
        {"type": "object", "required": ["x"], "properties": {"x": {"enum": ["a", "b"]}}},
        {"type": "object", "properties": {"x": {"enum": ["a", "b"]}}},
        {"properties": {"x": {"const": "a"}}},
    ),
    "l": ({"type": "array", "items": {"enum": ["a"]}, "maxItems": 2}, {"type": "array", "minItems": 1}),
}
_VALUES: Mapping[str, tuple[Json, ...]] = {
    "k": ("a", "b", "c", "", "zz"),
    "b": (True, False),
    "n": (1, 2, 2.0, 0, None),
    "o": ({}, {"x": "a"}, {"x": "b"}, "text"),
    "l": ([], ["a"], ["a", 1]),
}


def make_schema(chance: Random, fixed: Mapping[str, Json], *, draft7: bool = False) -> dict[str, Json]:
    """Return a schema of an object with some members that are always there, and others at random."""
    names = chance.sample(sorted(_MEMBERS), chance.choice((0, 1, 1, 2, 3)))
    properties = {**{each: chance.choice(_MEMBERS[each]) for each in names}, **fixed}
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    schema["required"] = [*fixed, *(each for each in names if each not in fixed and chance.random() < 0.6)]
    if chance.random() < 0.3:
        schema["additionalProperties"] = False
    if chance.random() < 0.5 and len(properties) > 1:
        _complicate(chance, schema, list(properties), draft7=draft7)
    return schema


def _complicate(chance: Random, schema: dict[str, Json], names: list[str], *, draft7: bool) -> None:
    """Add one keyword that makes members depend on each other."""
    one, other = chance.sample(names, 2)
    body = schema["properties"][one]
    value = body["enum"][0] if "enum" in body else body.get("const", True if one == "b" else "a")
    is_so: Json = {"properties": {one: {"const": value}}}
    demand: Json = {"required": [other]}
    match chance.randrange(9):
        case 0:
            schema |= {"if": {**is_so, "required": [one]}, "then": demand}
        case 1:
            schema |= {"if": is_so, "then": demand, "else": {"properties": {other: True}}}
        case 2:
            schema["oneOf"] = [{**is_so, **demand}, {"properties": {one: {"not": {"const": value}}}}]
        case 3:
            schema["anyOf"] = [{"required": [one]}, demand]
        case 4:
            schema["allOf"] = [demand, {"properties": {other: schema["properties"][other]}}]
        case 5:
            schema |= {"dependencies" if draft7 else "dependentRequired": {one: [other]}}
        case 6:
            schema |= {"dependencies" if draft7 else "dependentSchemas": {one: {**demand, "properties": {}}}}
        case 7:
            schema["not"] = {"required": [one, other], **is_so}
        case 8:
            schema["minProperties"] = len(schema["required"]) + chance.choice((0, 1))


def list_answers(schema: Json, chance: Random) -> list[Json]:
    """Return the answers that satisfy a schema, of all combinations of a few values of each member."""
    fits = jsonschema_rs.validator_for(schema).is_valid
    properties: Mapping[str, Json] = schema.get("properties", {})
    domains = [[_ABSENT, *_list_values(name, body)] for name, body in {**properties, "zz": {}}.items()]
    every: Iterable[tuple[Any, ...]] = product(*domains)
    sized = 1
    for each in domains:
        sized *= len(each)
    if sized > _MOST:
        every = (tuple(map(chance.choice, domains)) for _ in range(_MOST))
    names = (*properties, "zz")
    made = ({name: each for name, each in zip(names, row, strict=True) if each is not _ABSENT} for row in every)
    found = {json.dumps(each): each for each in made if fits(each)}
    kept = list(found.values())
    return kept if len(kept) <= _FEW else chance.sample(kept, _FEW)


def _list_values(name: str, body: Json) -> list[Json]:
    listed = body.get("enum", [body["const"]] if "const" in body else []) if isinstance(body, dict) else []
    return [*listed, *(each for each in _VALUES.get(name, ("zz",)) if each not in listed)]
