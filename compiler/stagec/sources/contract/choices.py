"""Enumerated values of schemas: their places, equal ones, and their JSON texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.canonical import MOST, text_of
from stagec.core.json import Json
from stagec.core.place import Place
from stagec.core.value import value
from stagec.sources.contract.schemas import Miss, Schema, Schemas
from stagec.sources.shape.subschemas import index_of, tokens

_MAPS = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
"""Members of a schema that hold schemas by name."""
_BOTH = {"items"}
"""Members that hold a schema, or schemas by index."""
_LISTS = {"allOf", "anyOf", "oneOf", "prefixItems", "items"}
"""Members of a schema that hold, or may hold, schemas by index."""


@value
class Choices:
    """The values named by an `enum`, a `const` or alternatives of `const`, each with its place."""

    at: Place
    values: tuple[tuple[Json, Place], ...]
    by_text: Mapping[str, Place]
    """The same values as a runner compares them: as JSON writes them, a text without its quotes."""

    @classmethod
    def of(cls, at: Place, values: Iterable[tuple[Json, Place]]) -> Choices:
        """Return the choices that a list of values with their places is."""
        listed = tuple(values)
        return cls(at, listed, {as_text(each): place for each, place in listed})


def as_text(given: Json) -> str:
    """Return a value as a runner compares it: as JSON writes it, a text without its quotes."""
    if isinstance(given, str):
        return given
    try:
        is_odd = isinstance(given, float) or (isinstance(given, int) and not -MOST <= given <= MOST)
        return _number(float(given)) if is_odd and isinstance(given, int | float) else text_of(given)
    except (OverflowError, ValueError):  # no number that JSON has
        return str(given)


def _number(given: float) -> str:
    from stagec.core.canonical import compact  # numbers with fractions are rare

    return compact(given)


def follow_pointer(schemas: Schemas, start: Schema, pointer: str) -> Schema | Miss:
    """Return the target of a pointer into a schema, through references and `allOf` on the way."""
    found, inexact = list(schemas.layers(start)), False
    is_schema = True
    for token in tokens(pointer):
        held = [each for each in found if isinstance(each, Schema)]
        inexact = inexact or len(held) < len(found)
        inner: list[Schema] = []
        for each in held:
            if isinstance(each.value, dict) and token in each.value:
                inner.append(Schema(each.value[token], each.at / token))
                # where no members can be, the shape of the schema is told
                inexact = inexact or (is_schema and token in _MAPS and not isinstance(each.value[token], dict))
            elif isinstance(each.value, list) and (index := index_of(token)) < len(each.value):
                inner.append(Schema(each.value[index], each.at / index))
        is_schema = not (is_schema and token in _MAPS | _LISTS) or token in _BOTH
        found = list(schemas.layers(*inner)) if is_schema else list(inner)
    named = next((each for each in found if isinstance(each, Schema)), None)
    return named or (Miss.UNKNOWABLE if inexact or found else Miss.NO_MEMBER)


def choices(schemas: Schemas, schema: Schema) -> Choices | Miss:
    """Return the values a schema names; `Miss.NO_MEMBER` when it names none."""
    layers = list(schemas.layers(schema))
    bodies = [each.value for each in layers if isinstance(each, Schema) and isinstance(each.value, dict)]
    if not all(isinstance(body.get("enum", []), list) for body in bodies):
        return Miss.UNKNOWABLE
    for each in layers:
        if isinstance(each, Schema) and (named := _list_choices(each) or _alternatives(schemas, each)) is not None:
            return named
    return Miss.UNKNOWABLE if any(isinstance(each, Miss) for each in layers) else Miss.NO_MEMBER


def _list_choices(schema: Schema) -> Choices | None:
    if not isinstance(schema.value, dict):
        return None
    listed = schema.value.get("enum")
    if isinstance(listed, list):
        at = schema.at / "enum"
        return Choices.of(at, ((each, at / index) for index, each in enumerate(listed)))
    if "const" in schema.value:
        at = schema.at / "const"
        return Choices.of(at, ((schema.value["const"], at),))
    return None


def _alternatives(schemas: Schemas, schema: Schema) -> Choices | None:
    """Return the values of all branches together, or None if one of them names none."""
    keyword = next((each for each in ("oneOf", "anyOf") if isinstance(schema.value, dict) and each in schema.value), "")
    branches = schema.value[keyword] if keyword and isinstance(schema.value, dict) else None
    if not isinstance(branches, list) or not branches:
        return None
    at = schema.at / keyword
    values: list[tuple[Json, Place]] = []
    for index, branch in enumerate(branches):
        layers = [each for each in schemas.layers(Schema(branch, at / index)) if isinstance(each, Schema)]
        named = next((found for each in layers if (found := _list_choices(each)) is not None), None)
        if named is None:
            return None
        values.extend(named.values)
    return Choices.of(at, values)


def hold_number(given: int) -> int:
    """Return a whole number as runs hold it, which is as a double does; one that is too large for any as it is."""
    try:
        return int(float(given))
    except OverflowError:
        return given


def identity(given: Json) -> tuple[object, ...]:
    """Return the key that values share which are equal in JSON: `1` and `1.0`, but not `1` and `true`."""
    if isinstance(given, int) and not -MOST <= given <= MOST:
        return False, hold_number(given)
    if isinstance(given, (str, int, float)):
        return isinstance(given, bool), given
    from json import dumps

    return (dumps(given, sort_keys=True),)
