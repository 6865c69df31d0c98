"""Find the rows that a JSON file lists, whatever they are about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from stagec.core.json import Json
from stagec_dev.row import Row

_LISTS = ("rows", "vectors", "files")
"""Members under which an object holds its rows."""
_NAMES = ("id", "name", "file")
"""Members that name a row, the first that is there; otherwise its index does."""


def list_rows(root: Path, file: str) -> Iterable[Row]:
    """Yield the rows of a file: a list of objects, at the top or in a member; nothing from any other file."""
    for index, given in enumerate(_objects(root / file)):
        named = [str(given[key]) for key in _NAMES if key in given]
        yield Row(file, named[0] if named else str(index), given)


def _objects(path: Path) -> list[Mapping[str, Json]]:
    try:
        held = json.loads(path.read_bytes())
    except ValueError:
        return []
    if isinstance(held, dict):
        held = next((held[key] for key in _LISTS if key in held), None)
    whole = isinstance(held, list) and all(isinstance(each, dict) for each in held)
    return held if whole else []
