"""Which combinations of alternatives are left once values and what `not` denies are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stagec.contract.choices import fits, list_values
from stagec.contract.combinations import Combination, combinations, types_of
from stagec.contract.conflict import is_void
from stagec.contract.member import member
from stagec.contract.schemas import Schema, Schemas
from stagec.core.json import Json, Object, list_of, object_of
from stagec.sources.shape.dialects import REMARKS
from stagec.sources.shape.subschemas import KEYWORDS

_DEEPEST = 8
"""So many members inside each other are looked at."""


def list_possible(schemas: Schemas, group: Iterable[Schema]) -> tuple[Combination, ...] | None:
    """Return the combinations of schemas that some value may satisfy, None when there are too many.

    Where only one is left, it is not looked into: who asks about a schema that nothing satisfies is answered as before.
    """
    every = tuple(group)
    possible = combinations(schemas, every)
    if possible is None or not any(_is_alternative(each) for each in possible):
        return possible
    key = ("possible", *map(id, possible))
    return schemas.memo.once(key, lambda: (_settle_all(schemas, possible), possible))[0]


def _is_alternative(combination: Combination) -> bool:
    return any(not _CHOOSING.isdisjoint(object_of(each.value)) for each in combination.layers)


_CHOOSING = frozenset({"anyOf", "oneOf", "if", "not"})


def _settle_all(schemas: Schemas, possible: tuple[Combination, ...]) -> tuple[Combination, ...]:
    settled = (_settle(schemas, each) for each in possible if not is_void(schemas, each))
    return tuple(each for each in settled if each is not None) or possible


def _settle(schemas: Schemas, combination: Combination) -> Combination | None:
    """Return a combination without what it denies needlessly; nothing where it denies all its values."""
    if list_values(combination) is not None:  # each of them was looked at
        return combination
    layers = []
    for each in combination.layers:
        body = object_of(each.value)
        denied = _judge_denied(schemas, combination, Schema(body["not"], each.at / "not")) if "not" in body else None
        if denied:
            return None
        kept = {key: inner for key, inner in body.items() if key != "not"}
        layers.append(each if denied is None else Schema(kept, each.at))
    same = all(one is other for one, other in zip(layers, combination.layers, strict=True))
    return combination if same else Combination(tuple(layers), combination.types, whole=combination.whole)


def _judge_denied(schemas: Schemas, combination: Combination, schema: Schema) -> bool | None:
    """Tell whether all values of a combination satisfy what it denies; False where one can leave a part of it out."""
    wanted = list_of(object_of(schema.value).get("required"))
    if combination.types == frozenset({"object"}) and not combination.required.issuperset(map(str, wanted)):
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
    alone = {fits(body, each) for each in listed} if listed is not None else {None}
    if len(alone) == 1 and None not in alone:
        yield alone.pop()
        return
    for key, given in body.items():
        if key == "type":
            yield _judge_types(combination, body)
        elif key == "required":
            yield _judge_required(combination, list_of(given))
        elif key == "properties":
            inner = object_of(given).items()
            yield from (
                _judge_member(schemas, combination, name, Schema(each, schema.at / key / name), depth)
                for name, each in inner
            )
        elif key in KEYWORDS and key not in REMARKS and key not in {"allOf", "$ref"}:
            yield None


def _judge_types(combination: Combination, body: Object) -> bool | None:
    types = types_of({"type": body["type"]})
    if types is None or combination.types is None:
        return None
    return True if combination.types <= types else False if combination.types.isdisjoint(types) else None


def _judge_required(combination: Combination, names: list[Json]) -> bool | None:
    if combination.types != frozenset({"object"}):
        return None
    if all(name in combination.required for name in names):
        return True
    return False if any(isinstance(name, str) and member(combination, name).forbidden for name in names) else None


def _judge_member(schemas: Schemas, combination: Combination, name: str, schema: Schema, depth: int) -> bool | None:
    found = member(combination, name)
    if found.forbidden:
        return True
    possible = combinations(schemas, found.parts) if found.parts else None
    judged = {_judge(schemas, each, schema, depth - 1) for each in possible or ()}
    if judged == {True} or schema.value is True:
        return True
    return False if judged == {False} and found.required and combination.types == frozenset({"object"}) else None
