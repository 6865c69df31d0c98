"""JSON as text, however deep a value is."""

from __future__ import annotations

import json
from collections.abc import Iterable

from stagec.core.json import Json

_ENCODED = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


def text_of(given: Json) -> str:
    """Return the text of a value, however deep it is."""
    try:
        return _ENCODED(given)
    except RecursionError:
        return _deep(given)


def _deep(given: Json) -> str:
    """Return what the standard library would write if it did not call itself for every level."""
    pieces: list[str] = []
    todo: list[tuple[str, tuple[Json, ...]]] = [("", (given,))]
    while todo:
        before, held = todo.pop()
        pieces.append(before)
        for each in held:
            if isinstance(each, dict):
                pieces.append("{")
                todo.extend(_separate(((f"{_ENCODED(name)}:", (inner,)) for name, inner in each.items()), "}"))
            elif isinstance(each, list):
                pieces.append("[")
                todo.extend(_separate((("", (inner,)) for inner in each), "]"))
            else:
                pieces.append(_ENCODED(each))
    return "".join(pieces)


_Row = tuple[str, tuple[Json, ...]]
"""What is written before a value, and the value; none behind the last."""


def _separate(rows: Iterable[_Row], closer: str) -> list[_Row]:
    """Return rows with commas between them and what closes them behind, the first one last."""
    parted = [(f",{before}" if index else before, held) for index, (before, held) in enumerate(rows)]
    return [(closer, ()), *reversed(parted)]
