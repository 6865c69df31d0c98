"""Tables as Markdown: what every tool prints them as."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
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


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table with its columns aligned; numbers stand right."""
    body = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    right = [all(row[index][:1].isdigit() for row in body) for index in range(len(head))]
    rule = "|".join("-" * (width + 1) + (":" if end else "-") for width, end in zip(widths, right, strict=True))
    return "\n".join([_line(head, widths, right), f"|{rule}|", *(_line(row, widths, right) for row in body)]) + "\n"


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    placed = zip(cells, widths, right, strict=True)
    return f"| {' | '.join(cell.rjust(width) if end else cell.ljust(width) for cell, width, end in placed)} |"
