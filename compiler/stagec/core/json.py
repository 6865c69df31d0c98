"""The values that documents are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
"""A parsed document or a part of it, whatever syntax it was written in."""

Object = Mapping[str, Json]


def kind_of(given: object) -> str:
    """Return what JSON calls a value: `null`, `boolean`, `integer`, `number`, `string`, `array` or `object`."""
    for kind, types in _KINDS:
        if isinstance(given, types):
            return kind
    raise TypeError(f"{type(given).__name__} is no JSON value")


_KINDS: tuple[tuple[str, type | tuple[type, ...]], ...] = (
    ("null", type(None)),
    ("boolean", bool),
    ("integer", int),
    ("number", float),
    ("string", str),
    ("array", (list, tuple)),
    ("object", dict),
)
