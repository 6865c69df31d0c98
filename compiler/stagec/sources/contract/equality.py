"""Whether two schemas accept the same values, as far as the way in which they are written tells."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from operator import itemgetter

from stagec.core.json import Json, Object
from stagec.core.place import Place
from stagec.sources.contract.choices import identity
from stagec.sources.contract.schemas import Schema, Schemas, list_parts
from stagec.sources.shape.subschemas import SchemaPart, position

_Written = Hashable
_PARTS = frozenset({"$defs", "definitions"})
_SILENT = frozenset(
    {
        *("$comment", "$id", "$schema", "default", "deprecated", "description", "examples", "readOnly", "title"),
        *("writeOnly", *_PARTS),
    }
)
"""Keywords that refuse no value by themselves; what parts of others are for is seen where they are referred to."""
_DEEPEST, _MOST = 64, 5_000
"""Schemas inside each other, and schemas in all, that are written."""


def are_alike(schemas: Schemas, one: Schema, other: Schema) -> bool:
    """Tell whether two schemas surely accept the same values; order, words for people and shared parts do not count."""
    if schemas.draft(one) is not schemas.draft(other):
        return False
    if one.at.file == other.at.file and one.value is other.value:
        return True
    first, second = (_Writer(schemas, each).write(each.value, each.at) for each in (one, other))
    return first == second


class _Writer:
    """Writes the schemas of one document in a way that is the same for all that say the same."""

    def __init__(self, schemas: Schemas, root: Schema) -> None:
        self._schemas = schemas
        self._open = [root.at]
        self._depth, self._left = 0, _MOST
        # which parts a reference means that looks at the way to it is not followed, so all of them count
        looks_around = any(True for _ in list_parts(root, frozenset({"$dynamicRef", "$recursiveRef"})))
        self._silent = _SILENT - _PARTS if looks_around else _SILENT

    def write(self, given: Json, at: Place, part: SchemaPart = SchemaPart.SCHEMA) -> _Written:
        """Return what a part of a schema says."""
        if isinstance(given, dict) and part is SchemaPart.SCHEMA:
            return self._write_schema(given, at)
        if isinstance(given, dict) and part is not SchemaPart.DATA:
            inner = {key: self.write(each, at / key, position(part, key, each)) for key, each in given.items()}
            return _write_members(inner)
        if isinstance(given, list) and part is not SchemaPart.DATA:
            return tuple(self.write(each, at / key, position(part, key, each)) for key, each in enumerate(given))
        return identity(given)

    def _write_schema(self, schema: Object, at: Place) -> _Written:
        """Return what a schema says; one that is too deep, or one too many, says what no other one says."""
        self._left -= 1
        if self._depth >= _DEEPEST or self._left < 0:
            return (at.file, at.pointer)
        self._depth += 1
        said = {key: each for key, each in schema.items() if key not in self._silent}
        if "const" in said and "enum" not in said:
            said["enum"] = [said.pop("const")]
        written = {key: self._write_keyword(key, each, at / key) for key, each in said.items() if key != "$ref"}
        written = {key: each for key, each in written.items() if each not in _NOTHING.get(key, ())}
        target = self._write_target(str(said["$ref"]), at) if isinstance(said.get("$ref"), str) else None
        self._depth -= 1
        if target is not None and not written:
            return target
        written |= {} if target is None else {"$ref": target}
        return _write_members(written) if written else identity(True)

    def _write_target(self, reference: str, at: Place) -> _Written:
        """Return what a reference refers to; one that leads back up is the number of steps to there."""
        found = self._schemas.resolve(reference, at.file, self._schemas.base(at))
        if not isinstance(found, Schema):
            return (reference,)
        if found.at in self._open:
            return (len(self._open) - self._open.index(found.at),)
        self._open.append(found.at)
        target = self.write(found.value, found.at)
        self._open.pop()
        return target

    def _write_keyword(self, key: str, given: Json, at: Place) -> _Written:
        if key in {"required", "enum", "type"}:
            every = given if isinstance(given, list) else [given]
            return tuple(sorted({identity(each) for each in every}, key=repr))
        if key in {"allOf", "anyOf", "oneOf"} and isinstance(given, list):
            return tuple(sorted((self.write(each, at / index) for index, each in enumerate(given)), key=repr))
        return self.write(given, at, position(SchemaPart.SCHEMA, key, given))


def _write_members(members: Mapping[str, _Written]) -> _Written:
    return tuple(sorted(members.items(), key=itemgetter(0)))


_NOTHING: Mapping[str, tuple[_Written, ...]] = {
    "required": ((),),
    "uniqueItems": (identity(False),),
    **dict.fromkeys(("minLength", "minItems", "minProperties"), (identity(0),)),
    **dict.fromkeys(("properties", "patternProperties", "dependentRequired", "dependentSchemas"), ((),)),
    **dict.fromkeys(("additionalProperties", "items", "propertyNames", "unevaluatedProperties"), (identity(True),)),
}
"""What a keyword says when it refuses no value."""
