"""What the value of a file is to be after some edits: the measure of whether its text was changed by these alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
        _CHANGES[edit.change](holder, last, edit.value)
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


def _has(holder: object, key: Key) -> bool:
    if isinstance(holder, list):
        return isinstance(key, int) and 0 <= key < len(holder)
    return isinstance(holder, dict) and key in holder


def _replace(holder: Any, key: Key, given: Json) -> None:
    holder[key] = given


def _rename(holder: Any, key: Key, name: Json) -> None:
    if _has(holder, str(name)) or not isinstance(holder, dict):
        raise ValueError(f"{key} cannot be called {name}")
    holder[str(name)] = holder.pop(key)


def _remove(holder: Any, key: Key, _given: Json) -> None:
    del holder[key]


def _insert(holder: Any, key: Key, given: Json) -> None:
    if isinstance(holder, list):
        holder.insert(int(key), given)
    else:
        holder[key] = given


_CHANGES: Mapping[Change, Callable[[Any, Key, Json], None]] = {
    Change.REPLACE: _replace,
    Change.RENAME: _rename,
    Change.REMOVE: _remove,
    Change.INSERT: _insert,
}
"""What each change does to a value; prose has none."""
