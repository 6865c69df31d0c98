"""Read what is at a path of a value, compare values, and write them as text: § 2.1, § 3.4 and § 3.8 of the format."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stagec.core.json import Json

MISSING: Any = object()
"""What a path leads to when there is nothing, which is not the same as null."""


def follow(given: Any, path: Iterable[str | int]) -> Any:
    """Return what a path leads to, or `MISSING`."""
    for key in path:
        if type(given) is dict:
            given = given.get(str(key), MISSING)
        elif type(given) is list:
            given = _element(given, key)
        else:
            return MISSING
        if given is MISSING:
            return MISSING
    return given


def _element(given: list[Json], key: str | int) -> Any:
    if type(key) is str:
        if not (key.isascii() and key.isdigit()):
            return MISSING
        key = int(key) if len(key) < _LONG else len(given)
    return given[int(key)] if int(key) < len(given) else MISSING


_LONG = 20
"""Digits that no list is long enough for."""


def equal(one: Any, other: Any) -> bool:
    """Tell whether two values are the same JSON: 1 is 1.0, and no number is a boolean."""
    if type(one) is bool or type(other) is bool:
        return one is other
    if type(one) is list and type(other) is list:
        return len(one) == len(other) and all(map(equal, one, other))
    if type(one) is dict and type(other) is dict:
        return one.keys() == other.keys() and all(equal(each, other[name]) for name, each in one.items())
    return bool(one == other)
