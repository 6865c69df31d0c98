"""Whether two schemas accept the same values, as far as the way in which they are written tells."""

from __future__ import annotations

import json
from collections.abc import Mapping

from stagec.contract.schemas import Schema, Schemas, list_parts
from stagec.core.json import Json, Object, list_of
from stagec.core.place import Place
from stagec.sources.shape.subschemas import SchemaPart, position

_PARTS = frozenset({"$defs", "definitions"})
_SILENT = frozenset(
    {
        *("$comment", "$id", "$schema", "default", "deprecated", "description", "examples", "readOnly", "title"),
        *("writeOnly", *_PARTS),
    }
)
"""Keywords that refuse no value by themselves; what parts of others are for is seen where they are referred to."""
_DEEPEST, _MOST = 32, 5_000
"""Schemas inside each other, and schemas in all, that are written; a reference beyond them equals no other."""


def are_alike(schemas: Schemas, one: Schema, other: Schema) -> bool:
    """Tell whether two schemas surely accept the same values; order, words for people and shared parts do not count."""
    if schemas.draft(one) is not schemas.draft(other):
        return False
    if one.at.file == other.at.file and one.value is other.value:
        return True
    first, second = (_Writer(schemas, each).write(each.value, each.at) for each in (one, other))
    return first == second


class _Writer:
    """Writes schemas of one document in a way that is the same for all that say the same."""

    def __init__(self, schemas: Schemas, root: Schema) -> None:
        self._schemas = schemas
        self._open = [root.at]
        self._left = _MOST
        # which parts a reference means that looks at the way to it is not followed, so all of them count
        looks_around = any(True for _ in list_parts(root, frozenset({"$dynamicRef", "$recursiveRef"})))
        self._silent = _SILENT - _PARTS if looks_around else _SILENT

    def write(self, given: Json, at: Place, part: SchemaPart = SchemaPart.SCHEMA) -> str:
        """Return a part of a schema as text."""
        if part is SchemaPart.SCHEMA and isinstance(given, dict):
            return self._write_schema(given, at)
        if isinstance(given, dict) and part is not SchemaPart.DATA:
            inner = {key: self.write(each, at / key, position(part, key, each)) for key, each in given.items()}
            return json.dumps(inner, sort_keys=True)
        if isinstance(given, list) and part is not SchemaPart.DATA:
            return json.dumps(
                [self.write(each, at / index, position(part, index, each)) for index, each in enumerate(given)]
            )
        return _write_value(given)

    def _write_schema(self, schema: Object, at: Place) -> str:
        self._left -= 1
        said = {key: each for key, each in schema.items() if key not in self._silent}
        reference = said.get("$ref")
        found = (
            self._schemas.resolve(reference, at.file, self._schemas.base(at)) if isinstance(reference, str) else None
        )
        if isinstance(found, Schema) and found.at in self._open:  # the same way back up says the same
            said["$ref"] = len(self._open) - self._open.index(found.at)
        elif isinstance(found, Schema) and (len(self._open) >= _DEEPEST or self._left < 0):
            said["$ref"] = f"{at.file} {at.pointer}"
        elif isinstance(found, Schema):
            self._open.append(found.at)
            target = self.write(found.value, found.at)
            self._open.pop()
            if said.keys() == {"$ref"}:
                return target
            said["$ref"] = target
        if "const" in said and "enum" not in said:
            said["enum"] = [said.pop("const")]
        written = {key: self._write_keyword(key, each, at / key) for key, each in said.items()}
        telling = {key: each for key, each in written.items() if each not in _NOTHING.get(key, ())}
        return json.dumps(telling, sort_keys=True) if telling else "true"

    def _write_keyword(self, key: str, given: Json, at: Place) -> str:
        if key in {"required", "enum", "type"}:
            every = given if isinstance(given, list) else [given]
            return json.dumps(sorted({_write_value(each) for each in every}))
        part = position(SchemaPart.SCHEMA, key, given)
        if key in {"allOf", "anyOf", "oneOf"} and isinstance(given, list):
            return json.dumps(sorted(self.write(each, at / index) for index, each in enumerate(list_of(given))))
        return self.write(given, at, part)


_NOTHING: Mapping[str, tuple[str, ...]] = {
    "required": ("[]",),
    "uniqueItems": ("false",),
    **dict.fromkeys(("minLength", "minItems", "minProperties"), ("0",)),
    **dict.fromkeys(("properties", "patternProperties", "dependentRequired", "dependentSchemas"), ("{}",)),
    **dict.fromkeys(("additionalProperties", "items", "propertyNames", "unevaluatedProperties"), ("true",)),
}
"""What a keyword says, as text, when it refuses no value."""


def _write_value(given: Json) -> str:
    """Return a value as text; `1.0` is 1, and `true` is not."""
    if isinstance(given, dict):
        return json.dumps({key: _write_value(each) for key, each in given.items()}, sort_keys=True)
    if isinstance(given, list):
        return json.dumps([_write_value(each) for each in given])
    return json.dumps(int(given) if isinstance(given, float) and given.is_integer() else given)
