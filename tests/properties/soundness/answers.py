"""Values that satisfy a JSON Schema, made at random: by following the schema, and by changing what came of that."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import jsonschema_rs

Json = Any

_WORDS = (
    "",
    "x",
    "next",
    "NEXT",
    "Done",
    "wait",
    "pass",
    "finished",
    "retry",
    "continue",
    "fail",
    "abort",
    "null",
    "true",
    "1",
    "default",
    "initial.issue",
    "é😀",
)
ODD: tuple[Json, ...] = (
    *(None, True, False, 0, 1, -1, 1.0, -0.0, 2.5, 7, 64, 1e16, 2**53, 1e300),
    *_WORDS,
    *([], {}, [1], ["x"], {"a": 1}, {"b": 2, "a": 1}),
)
"""Values that nobody expects, of every type."""
_DEEPEST = 6
_STRINGS = ("yes", "a text", "2024-01-01", "Done", "retry", "finished", "FAIL", "Continue", "abort")


def answers(text: str, random: Random, wanted: int = 24) -> list[Json]:
    """Return different values that satisfy the schema in a text, at most so many; none where none was found."""
    schema = json.loads(text)
    fits = jsonschema_rs.validator_for(schema).is_valid
    maker = _Maker(schema, random)
    found: dict[str, Json] = {}
    for tried in range(3 * wanted):
        kept = list(found.values())
        made = maker.changed(random.choice(kept)) if kept and tried % 3 else maker.made((schema,), 0)
        if fits(made):
            found.setdefault(json.dumps(made), made)
        if len(found) >= wanted:
            break
    return list(found.values())


class _Maker:
    """Makes values for the parts of one schema."""

    def __init__(self, root: Json, random: Random) -> None:
        self._root = root
        self._random = random
        self._words = list(dict.fromkeys(_words(root)))
        self._values = [*_listed(root), *ODD]

    def made(self, schemas: tuple[Json, ...], depth: int) -> Json:
        """Return a value that satisfies some schemas together, as far as following them leads."""
        layers = list(self._layers(schemas))
        listed = [_values_of(each) for each in layers if "enum" in each or "const" in each]
        if listed:
            common = [each for each in listed[0] if all(each in other for other in listed[1:])]
            return self._random.choice(common or listed[0])
        kinds = [_kinds(each) for each in layers if "type" in each]
        kind = (
            self._random.choice([each for each in kinds[0] if all(each in other for other in kinds)] or kinds[0])
            if kinds
            else self._guessed(layers)
        )
        return self._of(kind, layers, depth) if depth < _DEEPEST else None

    def changed(self, value: Json) -> Json:
        """Return a value with one thing in it changed, left out or added."""
        copy = json.loads(json.dumps(value))
        holders = [each for each in _inside(copy) if isinstance(each, dict | list) and each]
        if not holders or self._random.random() < 0.05:
            return self._random.choice(self._values)
        holder = self._random.choice(holders)
        if isinstance(holder, list):
            holder[self._random.randrange(len(holder))] = self._random.choice(self._values)
            return copy
        key = self._random.choice(list(holder))
        match self._random.randrange(6):
            case 0:
                del holder[key]
            case 1:
                holder[self._random.choice(self._words)] = self._random.choice(self._values)
            case 2:
                items = list(holder.items())
                self._random.shuffle(items)
                holder.clear()
                holder.update(items)
            case 3 if type(holder[key]) is int:
                holder[key] = float(holder[key])
            case _:
                holder[key] = self._random.choice(self._values)
        return copy

    def _guessed(self, layers: list[Json]) -> str:
        if any({"properties", "required"} & each.keys() for each in layers) and self._random.random() < 0.8:
            return "object"
        return self._random.choice(("object", "string", "integer", "boolean", "null", "array"))

    def _layers(self, schemas: tuple[Json, ...]) -> Iterator[Json]:
        """Yield schemas and what holds together with them, with one choice of each alternative."""
        todo, seen = list(schemas), 0
        for each in todo:  # grows while it is walked
            seen += 1
            if not isinstance(each, dict) or seen > 200:
                continue
            yield each
            todo.extend(each.get("allOf", ()))
            todo.extend(self._random.choice(each[name]) for name in ("anyOf", "oneOf") if each.get(name))
            todo.extend(
                each[name] for name in (("if", "then") if self._random.random() < 0.5 else ("else",)) if name in each
            )
            if "$ref" in each:
                todo.append(self._referred(each["$ref"]))

    def _referred(self, reference: str) -> Json:
        found = self._root
        for token in reference.partition("#")[2].split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~").replace("%25", "%").replace("%20", " ")
            found = found[int(name)] if isinstance(found, list) else found.get(name, {})
        return found

    def _of(self, kind: str, layers: list[Json], depth: int) -> Json:
        if kind == "object":
            return self._object(layers, depth)
        if kind == "array":
            return self._array(layers, depth)
        if kind in {"integer", "number"}:
            return self._number(layers, kind)
        if kind == "string":
            least = max((each.get("minLength", 0) for each in layers), default=0)
            return self._random.choice((*_STRINGS, *_WORDS)).ljust(least, "y")
        return None if kind == "null" else self._random.random() < 0.5

    def _object(self, layers: list[Json], depth: int) -> Json:
        needed = {name for each in layers for name in each.get("required", ())}
        named = dict.fromkeys(name for each in layers for name in each.get("properties", {}))
        likely = self._random.choice((0.2, 0.6, 1.0))
        chosen = [
            name
            for name in (*named, *sorted(needed - named.keys()))
            if name in needed or self._random.random() < likely
        ]
        made = {}
        for name in chosen:
            parts = tuple(part for each in layers for part in _of_member(each, name))
            if False not in parts:
                made[name] = self.made(parts, depth + 1) if parts else self._random.choice(self._values)
        return made

    def _array(self, layers: list[Json], depth: int) -> Json:
        least = max((each.get("minItems", 0) for each in layers), default=0)
        most = min((each["maxItems"] for each in layers if "maxItems" in each), default=least + 2)
        count = self._random.randint(least, max(least, most))
        listed = tuple(each["items"] for each in layers if isinstance(each.get("items"), dict))
        return [self.made(listed, depth + 1) if listed else self._random.choice(self._values) for _ in range(count)]

    def _number(self, layers: list[Json], kind: str) -> Json:
        bounds = [
            each[name]
            for each in layers
            for name in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
            if name in each
        ]
        base = self._random.choice(bounds or [0, 3]) + self._random.choice((-1, 0, 1, 0.5))
        return (
            int(base)
            if kind == "integer" and self._random.random() < 0.8
            else float(int(base))
            if kind == "integer"
            else base
        )


def _of_member(schema: Json, name: str) -> Iterator[Json]:
    properties = schema.get("properties", {})
    if name in properties:
        yield properties[name]
    elif isinstance(schema.get("additionalProperties"), dict):
        yield schema["additionalProperties"]


def _kinds(schema: Json) -> list[str]:
    given = schema["type"]
    kinds = [given] if isinstance(given, str) else list(given)
    return [*kinds, "integer"] if "number" in kinds else kinds


def _values_of(schema: Json) -> list[Json]:
    return list(schema["enum"]) if "enum" in schema else [schema["const"]]


def _inside(value: Json) -> list[Json]:
    found = [value]
    for each in found:  # grows while it is walked
        found.extend(each.values() if isinstance(each, dict) else each if isinstance(each, list) else ())
    return found


def _words(schema: Json) -> Iterator[str]:
    """Yield the names of members that a schema speaks of."""
    for each in _inside(schema):
        if isinstance(each, dict):
            yield from (name for name in each.get("properties", {}) if isinstance(name, str))
            yield from (name for name in each.get("required", ()) if isinstance(name, str))
    yield from ("x", "0", "extra")


def _listed(schema: Json) -> Iterator[Json]:
    for each in _inside(schema):
        if isinstance(each, dict) and isinstance(each.get("enum"), list):
            yield from each["enum"]
        if isinstance(each, dict) and "const" in each:
            yield each["const"]
