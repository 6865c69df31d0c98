"""The values that documents are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
"""A parsed document or a part of it, whatever syntax it was written in."""

Object = Mapping[str, Json]


def kind_of(given: object) -> str:
    """Return the type of a value in JSON: `null`, `boolean`, `integer`, `number`, `string`, `array` or `object`."""
    for kind, types in _KINDS:
        if isinstance(given, types):
            return kind
    raise TypeError(f"{type(given).__name__} is not a JSON value")


def object_of(given: Json) -> Object:
    """Return a value if it is an object, else an empty one."""
    return given if isinstance(given, dict) else {}


def list_of(given: Json) -> list[Json]:
    """Return a value if it is an array, else an empty one."""
    return given if isinstance(given, list) else []


def objects_in(given: Object, member: str) -> Iterator[tuple[str, Object]]:
    """Yield the objects in a member of an object that is one itself, each with its key."""
    for key, each in object_of(given.get(member)).items():
        if isinstance(each, dict):
            yield key, each


def text_in(given: Object, member: str) -> str | None:
    """Return a member of an object if it is a string."""
    found = given.get(member)
    return found if isinstance(found, str) else None


def whole_of(given: Json) -> int | None:
    """Return a whole number; JSON does not tell 3.0 from 3. Return nothing for all else."""
    if isinstance(given, float):
        return int(given) if given.is_integer() else None
    return given if isinstance(given, int) and not isinstance(given, bool) else None


_KINDS: tuple[tuple[str, type | tuple[type, ...]], ...] = (
    ("null", type(None)),
    ("boolean", bool),
    ("integer", int),
    ("number", float),
    ("string", str),
    ("array", (list, tuple)),
    ("object", dict),
)


def find_inside(given: Json, pointer: Iterable[str | int]) -> Json:
    """Return the part of a value at a pointer, None if there is none."""
    for key in pointer:
        if isinstance(given, dict) and isinstance(key, str):
            given = given.get(key)
        elif isinstance(given, list) and isinstance(key, int) and 0 <= key < len(given):
            given = given[key]
        else:
            return None
    return given


MISSING: Any = object()
"""The result of a path to nothing, which is not the same as null."""


def follow(given: Any, path: Iterable[str | int]) -> Any:
    """Return the value at a path, or `MISSING`."""
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
