"""What the value of a file is to be after some edits: the measure of whether its text was changed by these alone."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json
from stagec.core.place import Key


def revise(given: Json, edits: Iterable[Edit]) -> Json:
    """Return a value with edits made; indexes and names are those before any of them.

    Raises ValueError for a place that is not there.
    """
    root: list[Any] = [deepcopy(given)]
    for edit in sorted(edits, key=_rank, reverse=True):
        *way, last = 0, *edit.at.pointer
        holder: Any = root
        for key in way:
            holder = holder[key] if _has(holder, key) else None
        if not _is_possible(holder, last, edit.change):
            raise ValueError(f"nothing at {edit.at.pointer} can be changed by {edit.change}")
        _make(holder, last, edit)
    revised: Json = root[0]
    return revised


def _rank(edit: Edit) -> tuple[int, int, bool]:
    """Rank edits so that the last can be made first: deep before shallow, late before early, taking before adding."""
    last = edit.at.pointer[-1:]
    index = last[0] if last and isinstance(last[0], int) else 0
    return len(edit.at.pointer), index, edit.change is not Change.INSERT


def _is_possible(holder: object, key: Key, change: Change) -> bool:
    if change is not Change.INSERT:
        return _has(holder, key)
    return isinstance(holder, list) if isinstance(key, int) else isinstance(holder, dict) and key not in holder


def _make(holder: Any, key: Key, edit: Edit) -> None:
    match edit.change:
        case Change.REPLACE:
            holder[key] = edit.value
        case Change.RENAME:
            if _has(holder, str(edit.value)) or not isinstance(holder, dict):
                raise ValueError(f"{key} cannot be called {edit.value}")
            holder[str(edit.value)] = holder.pop(key)
        case Change.REMOVE:
            del holder[key]
        case Change.INSERT if isinstance(holder, list):
            holder.insert(int(key), edit.value)
        case Change.INSERT:
            holder[key] = edit.value
        case _:
            raise ValueError(f"{edit.change} is a change of prose")


def _has(holder: object, key: Key) -> bool:
    if isinstance(holder, list):
        return isinstance(key, int) and 0 <= key < len(holder)
    return isinstance(holder, dict) and key in holder
