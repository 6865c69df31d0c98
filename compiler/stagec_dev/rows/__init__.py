"""Shelf: one module per kind of rows of a folder laid out like the corpus; here is what all kinds share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from stagec.core.json import Json
from stagec.core.value import NOTHING, value

_LISTS = ("rows", "vectors", "files")
"""Members under which an object holds its rows."""
_NAMES = ("id", "name", "file")
"""Members that name a row, the first that is there; otherwise its index does."""
_REASON = "outOfScope"


class Agreement(StrEnum):
    """The relation of an answer to that of a row."""

    AGREE = "agree"
    DISAGREE = "disagree"
    UNKNOWN = "unknown"
    """No kind of row knows how to answer it, or the row gives no answer."""
    NOT_YET = "not yet"
    """The answer needs a rule that does not exist so far."""
    OUT_OF_SCOPE = "out of scope"
    """A ruling keeps what the row is about out of stagec."""


@value
class Row:
    """One row: the file it is listed under, its name there, and what the file says about it."""

    file: str
    id: str
    given: Mapping[str, Any] = NOTHING

    @property
    def rules(self) -> tuple[str, ...]:
        """Slugs of the specification that the row is about; none in a row without answers."""
        slugs = self.given.get("rules")
        return tuple(str(slug) for slug in slugs) if isinstance(slugs, list) else ()


@value
class RowKind:
    """How rows of one kind are found, answered and judged.

    `claims(file)` tells whether a file, relative to the root with `/`, holds rows of this kind; `rows(root, file)`
    lists them; `answer(root, row)` says what stagec makes of a row's inputs, in the shape of the row's own answer,
    and must not look at that; `compare(row, got)` does.
    """

    claims: Callable[[str], bool]
    rows: Callable[[Path, str], Iterable[Row]]
    answer: Callable[[Path, Row], Json]
    compare: Callable[[Row, Any], Agreement]


def out_of_scope(reason: str) -> dict[str, Json]:
    """Return the answer to a row about what a ruling keeps out of stagec."""
    return {_REASON: reason}


def is_out_of_scope(got: Json) -> bool:
    """Tell whether an answer says that the row is out of scope."""
    return isinstance(got, dict) and _REASON in got


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
