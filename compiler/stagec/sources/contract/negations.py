"""What the layers of a combination deny, and whether all of its values, or none, satisfy that."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.place import Place
from stagec.sources.contract.combinations import Combination, combinations, types_of
from stagec.sources.contract.member import member
from stagec.sources.contract.reach import fits_extent, list_values
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.shape.dialects import REMARKS
from stagec.sources.shape.subschemas import KEYWORDS

_DEEPEST = 8
"""So many members inside each other are looked at."""


def list_denied(combination: Combination) -> Iterator[Schema]:
    """Yield what the layers of a combination deny."""
    for each in combination.layers:
        body = object_of(each.value)
        if "not" in body:
            yield Schema(body["not"], each.at / "not")


def find_denial(schemas: Schemas, combination: Combination) -> Place | None:
    """Return the keyword that denies all values of a combination, None where some may be left."""
    found = (each for each in list_denied(combination) if judge_denied(schemas, combination, each))
    return next((_find_keyword(each.at) for each in found), None)


def _find_keyword(at: Place) -> Place:
    """Return the keyword of a project that stands for a denial: its `not`, or the `oneOf` or `if` it comes from."""
    *outer, maker = at.pointer[:-1] or ("",)
    if str(maker) == "{else}":
        return Place(at.file, (*outer, "if"))
    return Place(at.file, tuple(outer[:-1])) if str(maker).startswith("{not ") else at


def judge_denied(schemas: Schemas, combination: Combination, schema: Schema) -> bool | None:
    """Tell whether all values of a combination satisfy what it denies; False where one can leave a part of it out."""
    wanted = list_of(object_of(schema.value).get("required"))
    if combination.types == frozenset({"object"}) and any(str(name) not in combination.required for name in wanted):
        return False
    return _judge(schemas, combination, schema, _DEEPEST)


def _judge(schemas: Schemas, combination: Combination, schema: Schema, depth: int) -> bool | None:
    """Tell whether all values of a combination satisfy a schema, or none does; None where it depends or is involved."""
    found: list[bool | None] = []
    for each in schemas.layers(schema):
        if not isinstance(each, Schema) or depth == 0:
            found.append(None)
        elif isinstance(each.value, dict):
            found += _judge_keywords(schemas, combination, each, depth)
        else:
            found.append(each.value if isinstance(each.value, bool) else None)
    return False if False in found else None if None in found else True


def _judge_keywords(schemas: Schemas, combination: Combination, schema: Schema, depth: int) -> Iterator[bool | None]:
    body = object_of(schema.value)
    listed = list_values(combination)
    alone = {fits_extent(body, each) for each in listed} if listed is not None else {None}
    if len(alone) == 1 and None not in alone:
        yield alone.pop()
        return
    for key, given in body.items():
        if key == "type":
            yield _judge_types(combination, body)
        elif key == "required":
            yield judge_required(combination, list_of(given))
        elif key == "properties":
            inner = object_of(given).items()
            yield from (
                judge_member(schemas, combination, name, Schema(each, schema.at / key / name), depth)
                for name, each in inner
            )
        elif key in KEYWORDS and key not in REMARKS and key not in {"allOf", "$ref"}:
            yield None


def _judge_types(combination: Combination, body: Object) -> bool | None:
    types = types_of({"type": body["type"]})
    if types is None or combination.types is None:
        return None
    return True if combination.types <= types else False if combination.types.isdisjoint(types) else None


def judge_required(combination: Combination, names: list[Json]) -> bool | None:
    """Tell whether all values of a combination have some members, or none has all of them."""
    if combination.types != frozenset({"object"}):
        return None
    if all(isinstance(name, str) and name in combination.required for name in names):
        return True
    return False if any(isinstance(name, str) and member(combination, name).forbidden for name in names) else None


def judge_member(
    schemas: Schemas, combination: Combination, name: str, schema: Schema, depth: int = _DEEPEST
) -> bool | None:
    """Tell whether a member satisfies a schema, where it is there, in all values of a combination, or in none."""
    found = member(combination, name)
    if found.forbidden:
        return True
    possible = combinations(schemas, found.parts) if found.parts else None
    judged = {_judge(schemas, each, schema, depth - 1) for each in possible or ()}
    if judged == {True} or schema.value is True:
        return True
    return False if judged == {False} and found.required and combination.types == frozenset({"object"}) else None
