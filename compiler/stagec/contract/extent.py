"""The values that a combination of schemas leaves, as far as types, lists and bounds tell."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from stagec.contract.choices import identity
from stagec.contract.combinations import Combination, type_of, types_of
from stagec.contract.schemas import Schema
from stagec.core.json import Json, Object
from stagec.core.place import Place
from stagec.sources.shape.dialects import REMARKS
from stagec.sources.shape.subschemas import KEYWORDS

FEW: dict[str, tuple[Json, ...]] = {"boolean": (True, False), "null": (None,)}
"""The types that have few values."""


def list_values(combination: Combination) -> list[Json] | None:
    """Return the values that every list of a combination names and its types allow, None when there is no list."""
    all_lists = [each for layer in combination.layers if isinstance(layer.value, dict) for each in lists(layer.value)]
    types = combination.types
    if types is not None and types <= FEW.keys():
        all_lists.append([each for kind in sorted(types) for each in FEW[kind]])
    if not all_lists:
        return None
    first, *others = all_lists
    common = [frozenset(map(identity, other)) for other in others]
    denied = [body["not"] for body in bodies_of(combination) if "not" in body]
    return [
        each
        for each in first
        if (types is None or type_of(each) in types)
        and all(identity(each) in other for other in common)
        and not any(fits(schema, each) for schema in denied)
    ]


def lists(body: Object) -> Iterator[list[Json]]:
    """Yield the lists of values that a schema itself gives: its `enum`, and its `const`."""
    listed = body.get("enum")
    if isinstance(listed, list):
        yield listed
    if "const" in body:
        yield [body["const"]]


def admits(combination: Combination, given: Json) -> bool:
    """Tell whether types and bounds leave a value; what else a schema may say is not looked at."""
    if combination.types is not None and type_of(given) not in combination.types:
        return False
    return all(_within(body, given) for body in bodies_of(combination))


def _within(body: Object, given: Json) -> bool:
    if isinstance(given, str):
        low, high = read_bound(body, "minLength"), read_bound(body, "maxLength")
        return (low is None or len(given) >= low) and (high is None or len(given) <= high)
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        return True
    step = read_bound(body, "multipleOf")
    if isinstance(step, int) and step > 0 and (given != int(given) or int(given) % step != 0):
        return False
    low, high = read_bound(body, "minimum"), read_bound(body, "maximum")
    above, below = read_bound(body, "exclusiveMinimum"), read_bound(body, "exclusiveMaximum")
    inside = (low is None or given >= low) and (high is None or given <= high)
    return inside and (above is None or given > above) and (below is None or given < below)


def numbers(combination: Combination, key: str) -> list[int | float]:
    """Return the bounds of one kind that a combination sets."""
    return [found for body in bodies_of(combination) if (found := read_bound(body, key)) is not None]


def read_bound(body: Object, key: str) -> int | float | None:
    """Return a bound that a schema itself sets, None for one that is no number."""
    found = body.get(key)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return None
    return found if isinstance(found, int) or isfinite(found) else None  # an integer can be larger than any float


def bodies_of(combination: Combination) -> Iterator[Object]:
    """Yield the layers of a combination that are objects."""
    return (each.value for each in combination.layers if isinstance(each.value, dict))


_JUDGED = {
    *("type", "enum", "const", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
}
"""What `fits` looks at."""


def fits(schema: Json, given: Json) -> bool | None:
    """Tell whether a value satisfies a schema by itself; None where it says more than is looked at."""
    if not isinstance(schema, dict):
        return schema if isinstance(schema, bool) else None
    if isinstance(given, list | dict) and not schema.keys().isdisjoint({"enum", "const"}):
        return None
    types = types_of({"type": schema["type"]}) if "type" in schema else None
    alone = Combination((Schema(schema, Place("")),), types, whole=True)
    if not admits(alone, given) or any(identity(given) not in map(identity, each) for each in lists(schema)):
        return False
    others = [key for key in schema if key not in _JUDGED and key in KEYWORDS and key not in REMARKS]
    return None if others or ("type" in schema and types is None) else True


_LONGEST_RANGE = 64
"""Whole numbers between two bounds that are counted out."""


def count_out(combination: Combination) -> list[Json] | None:
    """Return all values that types and bounds leave, None when they are too many."""
    kinds = [_all_of(combination, each) for each in sorted(combination.types or ("any",))]
    return None if None in kinds else [each for kind in kinds if kind is not None for each in kind]


def _all_of(combination: Combination, kind: str) -> list[Json] | None:
    if kind == "integer":
        return _whole_numbers(combination)
    if kind == "string":
        return [""] if 0 in numbers(combination, "maxLength") else None
    return [*FEW[kind]] if kind in FEW else None


def _whole_numbers(combination: Combination) -> list[Json] | None:
    least = [-(-low // 1) for low in numbers(combination, "minimum")]
    least += [low // 1 + 1 for low in numbers(combination, "exclusiveMinimum")]
    most = [high // 1 for high in numbers(combination, "maximum")]
    most += [-(-high // 1) - 1 for high in numbers(combination, "exclusiveMaximum")]
    if not least or not most or min(most) - max(least) >= _LONGEST_RANGE:
        return None
    return list(range(int(max(least)), int(min(most)) + 1))
