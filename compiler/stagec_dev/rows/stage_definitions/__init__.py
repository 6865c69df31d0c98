"""Stage definitions: rows of upstream's validators, and files that lie in the corpus as they are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from stagec.core.json import Json
from stagec_dev.rows import Agreement, Row, RowKind, list_rows
from stagec_dev.rows.stage_definitions import cases, runs
from stagec_dev.rows.stage_definitions import cases as files

_FOLDER = "stage-definitions"
_WHOLE = ("seed", "examples", "derived-md")
"""Folders whose files are rows themselves."""
_MACHINES = ("ralph.json",)


def _claims(file: str) -> bool:
    path = PurePosixPath(file)
    return _FOLDER in path.parts and path.suffix in {".json", ".md"}


def _rows(root: Path, file: str) -> Iterable[Row]:
    path = PurePosixPath(file)
    if path.parent.name == "cases":
        yield from list_rows(root, file)
    elif path.name in _MACHINES or (set(_WHOLE).intersection(path.parts) and path.name != "pipeline.json"):
        yield from files.rows_of(root, file)


def _answer(_root: Path, row: Row) -> Json:
    path = PurePosixPath(row.file)
    if path.parent.name != "cases":
        answered: Json = files.answer(row)
        return answered
    case, by_cases = runs.CASES.get(path.stem), cases.ANSWERS.get(path.stem)
    answer = case.answer if case is not None else by_cases
    got: Json = answer(row.given) if answer is not None else None
    return got


def _compare(row: Row, got: Any) -> Agreement:
    path = PurePosixPath(row.file)
    if path.parent.name != "cases":
        return files.compare_files(row, got)
    if path.stem in runs.CASES:
        return runs.compare(runs.CASES[path.stem], row.given, got)
    return cases.compare(row.given, got) if path.stem in cases.ANSWERS else Agreement.NOT_YET


STAGE_DEFINITIONS = RowKind(_claims, _rows, _answer, _compare)
