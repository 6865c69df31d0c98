"""Which combinations of alternatives are left once values and what `not` denies are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stagec.contract.combinations import Combination, as_object, combinations
from stagec.contract.conflict import is_void
from stagec.contract.extent import list_values
from stagec.contract.member import member
from stagec.contract.negations import judge_denied, list_denied
from stagec.contract.schemas import Schema, Schemas
from stagec.core.json import object_of


def list_possible(schemas: Schemas, group: Iterable[Schema]) -> tuple[Combination, ...] | None:
    """Return the combinations of schemas that some value may satisfy, None when there are too many.

    Where only one is left, it is not looked into: who asks about a schema that nothing satisfies is answered as before.
    """
    every = tuple(group)
    possible = combinations(schemas, every)
    if possible is None or not any(each.is_alternative for each in possible):
        return possible
    key = ("possible", *map(id, possible))
    return schemas.memo.once(
        key, lambda: (tuple(_settle(schemas, each) for each in _leave(schemas, possible)), possible)
    )[0]


def list_left(schemas: Schemas, group: Iterable[Schema]) -> tuple[Combination, ...] | None:
    """Return the combinations of `list_possible` with all that they deny."""
    possible = combinations(schemas, group)
    if possible is None or not any(each.is_alternative for each in possible):
        return possible
    key = ("left", *map(id, possible))
    return schemas.memo.once(key, lambda: (_leave(schemas, possible), possible))[0]


def denies_on_way(schemas: Schemas, schema: Schema, path: Sequence[str]) -> bool:
    """Tell whether something is denied of one of the objects through which a path leads."""
    left = [*(list_left(schemas, as_object(schema)) or ())]
    for name in path[:-1]:
        if any(any(list_denied(each)) for each in left):
            return True
        inside = (member(each, name).parts for each in left[:_MOST])
        groups = {tuple(each.at for each in parts): parts for parts in inside}.values()
        left = [each for group in groups for each in list_left(schemas, group) or ()]
    return any(any(list_denied(each)) for each in left)


_MOST = 256
"""So many ways through alternatives are followed at once."""


def _leave(schemas: Schemas, possible: tuple[Combination, ...]) -> tuple[Combination, ...]:
    return tuple(each for each in possible if not is_void(schemas, each)) or possible


def _settle(schemas: Schemas, combination: Combination) -> Combination:
    """Return a combination without what it denies needlessly."""
    if list_values(combination) is not None:
        return combination
    layers = []
    for each in combination.layers:
        body = object_of(each.value)
        denied = judge_denied(schemas, combination, Schema(body["not"], each.at / "not")) if "not" in body else None
        kept = {key: inner for key, inner in body.items() if key != "not"}
        layers.append(Schema(kept, each.at) if denied is False else each)
    same = all(one is other for one, other in zip(layers, combination.layers, strict=True))
    return combination if same else Combination(tuple(layers), combination.types, whole=combination.whole)
