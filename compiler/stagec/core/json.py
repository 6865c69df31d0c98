"""The values that documents are made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
"""A parsed document or a part of it, whatever syntax it was written in."""

Object = Mapping[str, Json]


def kind_of(given: object) -> str:
    """Return what JSON calls a value: `null`, `boolean`, `integer`, `number`, `string`, `array` or `object`."""
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
    """Return what is at a pointer into a value, None where nothing is."""
    for key in pointer:
        if isinstance(given, dict) and isinstance(key, str):
            given = given.get(key)
        elif isinstance(given, list) and isinstance(key, int) and 0 <= key < len(given):
            given = given[key]
        else:
            return None
    return given
