"""The values that schemas which hold together name one by one, and when JSON holds two values for equal."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.contract.combinations import Combination, type_of
from stagec.core.json import Json, Object

FEW: dict[str, tuple[Json, ...]] = {"boolean": (True, False), "null": (None,)}
"""The types that have few values."""


def named(combination: Combination) -> list[Json] | None:
    """Return the values that every list of a combination names and its types allow, None when there is no list."""
    all_lists = [each for layer in combination.layers if isinstance(layer.value, dict) for each in lists(layer.value)]
    types = combination.types
    if types is not None and types <= FEW.keys():
        all_lists.append([each for kind in sorted(types) for each in FEW[kind]])
    if not all_lists:
        return None
    first, *others = all_lists
    common = [frozenset(map(identity, other)) for other in others]
    return [
        each
        for each in first
        if (types is None or type_of(each) in types) and all(identity(each) in other for other in common)
    ]


def lists(body: Object) -> Iterator[list[Json]]:
    """Yield the lists of values that a schema itself gives: its `enum`, and its `const`."""
    listed = body.get("enum")
    if isinstance(listed, list):
        yield listed
    if "const" in body:
        yield [body["const"]]


def identity(given: Json) -> tuple[object, ...]:
    """Return what two values share when JSON holds them for equal: `1` and `1.0`, but not `1` and `true`."""
    if isinstance(given, (str, int, float)):
        return isinstance(given, bool), given
    from json import dumps

    return (dumps(given, sort_keys=True),)
