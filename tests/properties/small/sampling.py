"""Values that satisfy a schema, found in the schema itself: corners of each type, with and without each member."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import jsonschema_rs

Json = Any
_TRIES, _KEPT = 600, 30
_LONGEST = 3
_CORNERS: Mapping[str, tuple[Json, ...]] = {
    "string": ("a", "", "b c", "null", "0", "closure.end"),
    "integer": (0, 1, 2, 3, -1, 2.0),
    "number": (0.5, 0, 7),
    "boolean": (True, False),
    "null": (None,),
}
_ODD: tuple[Json, ...] = (None, "", 0, False, [], {}, "a")


class Sampler:
    """Makes values for the schemas of one document, whose references lead into its `$defs`."""

    def __init__(self, chance: Random, root: Json) -> None:
        self._chance, self._root = chance, root
        self._fits = jsonschema_rs.validator_for(root).is_valid

    def list_values(self) -> list[Json]:
        """Return different values that satisfy the whole schema."""
        found: dict[str, Json] = {}
        for _ in range(_TRIES):
            made = self._make(self._root, 0)
            if self._fits(made):
                found.setdefault(json.dumps(made, sort_keys=True), made)
            if len(found) == _KEPT:
                break
        return list(found.values())

    def _make(self, schema: Json, depth: int) -> Json:
        chance = self._chance
        if not isinstance(schema, dict) or depth > 6:
            return chance.choice(_ODD)
        body = {**schema}
        if "$ref" in body:
            body |= self._root["$defs"][body.pop("$ref").rpartition("/")[2]]
        for word in ("oneOf", "anyOf"):
            if word in body:
                body = _join(body, chance.choice(body.pop(word)))
        for part in body.pop("allOf", ()):
            body = _join(body, part)
        if "const" in body:
            return body["const"]
        if "enum" in body:
            return chance.choice(body["enum"])
        kinds = body.get("type", "object" if "properties" in body else None)
        kind = chance.choice(kinds) if isinstance(kinds, list) else kinds
        if kind == "object":
            return dict(self._list_members(body, depth + 1))
        if kind == "array":
            most = min(_LONGEST, body.get("maxItems", _LONGEST))
            count = chance.randint(min(body.get("minItems", 0), most), most)
            return [self._make(body.get("items", True), depth + 1) for _ in range(count)]
        return chance.choice(_CORNERS.get(str(kind), _ODD))

    def _list_members(self, body: Json, depth: int) -> Iterator[tuple[str, Json]]:
        needed = body.get("required", ())
        for name in dict.fromkeys((*needed, *body.get("properties", {}))):
            if name in needed or self._chance.random() < 0.5:
                yield name, self._make(body.get("properties", {}).get(name, True), depth)
        if body.get("additionalProperties") is not False and self._chance.random() < 0.2:
            yield self._chance.choice(("zz", "status", "complete")), self._chance.choice((*_ODD, "completed", True))


def _join(one: Json, other: Json) -> Json:
    """Return what values satisfy that satisfy both schemas, roughly: what does not is sorted out."""
    if not isinstance(other, dict):
        return one
    joined = {**one, **other}
    own, more = one.get("properties", {}), other.get("properties", {})
    joined["properties"] = {**own, **{key: _join(own.get(key, {}), each) for key, each in more.items()}}
    joined["required"] = [*one.get("required", ()), *other.get("required", ())]
    return joined
