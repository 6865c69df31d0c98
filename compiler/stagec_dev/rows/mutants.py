"""Mutants: a base project with one change, answered with what the change adds to the diagnostics of the base."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.json import Json, Object
from stagec.core.place import pointer_text
from stagec.pipeline import list_families
from stagec_dev.compiling import diagnostics
from stagec_dev.listing import list_rows
from stagec_dev.row import Agreement, Row, RowKind


def _claims(file: str) -> bool:
    return PurePosixPath(file).name == "mutants.json"


def _rows(root: Path, file: str) -> Iterable[Row]:
    return list_rows(root, file)


def _answer(root: Path, row: Row) -> Json:
    base = (root / row.file).parent / "bases" / str(row.given["base"])
    with TemporaryDirectory() as folder:
        project = Path(folder) / base.name
        shutil.copytree(base, project, symlinks=True)
        _change(project, row.given.get("changes"))
        return _compare_diagnostics(_of_base(base), diagnostics(project))


@cache
def _of_base(base: Path) -> tuple[Diagnostic, ...]:
    return diagnostics(base)


def _change(project: Path, changes: Any) -> None:
    for file, text in changes.items() if isinstance(changes, dict) else ():
        path = project / file
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(str(text).encode("utf-8", "surrogatepass"))


def _compare_diagnostics(base: Sequence[Diagnostic], mutant: Sequence[Diagnostic]) -> Json:
    """Describe what the mutant shows and the base does not; lines may have moved, so they do not count."""
    left = Counter(_identity(each) for each in base)
    added: list[Diagnostic] = []
    for each in mutant:
        if left[_identity(each)]:
            left[_identity(each)] -= 1
        else:
            added.append(each)
    heaviest = max((each.severity for each in added), key=lambda each: each.weight, default=None)
    return {
        "expect": "report" if heaviest not in {None, Severity.NOTE} else "silent",
        "rules": sorted({slug for each in added for slug in _slugs(each)}),
        "places": sorted({(each.at.file, pointer_text(each.at.pointer)) for each in added}),
        "severity": heaviest,
        "errors_added": sum(each.severity is Severity.ERROR for each in added),
        "diagnostics": [_show(each) for each in added],
    }


def _identity(each: Diagnostic) -> tuple[str, str, str, str]:
    return each.code, each.at.file, pointer_text(each.at.pointer), each.message


def _slugs(each: Diagnostic) -> Iterable[str]:
    return (origin.rpartition(":")[2] for origin in each.origin)


def _show(each: Diagnostic) -> Object:
    place = {"file": each.at.file, "pointer": pointer_text(each.at.pointer)}
    return {"code": each.code, "severity": each.severity, "origin": each.origin, **place, "message": each.message}


def _compare(row: Row, got: Any) -> Agreement:
    wanted = row.given.get("expect")
    if wanted is None:
        return Agreement.UNKNOWN
    if "diagnostics" not in got:
        return Agreement.DISAGREE
    if wanted == "report" and not _list_slugs().intersection(row.rules):
        return Agreement.NOT_YET
    met = {"either": True, "silent": got["errors_added"] == 0, "report": _is_reported(row, got)}
    return Agreement.AGREE if met[str(wanted)] else Agreement.DISAGREE


@cache
def _list_slugs() -> frozenset[str]:
    """Every slug that some rule has a home for."""
    rules = (rule for family in list_families() for rule in family.rules())
    return frozenset(origin.rpartition(":")[2] for rule in rules for origin in rule.origin)


def _is_reported(row: Row, got: Mapping[str, Any]) -> bool:
    places, added = row.given["places"], got["diagnostics"]
    told = [each for each in added if set(row.rules).intersection(_slugs_of(each))]
    meets = any(_meets(each, place) for each in told for place in places)
    return meets and bool(got["errors_added"] <= 1)


def _meets(each: Mapping[str, Any], place: Sequence[str]) -> bool:
    """Tell whether a diagnostic stands at a place, inside it, or one level above it."""
    file, pointer = place
    stands = str(each["pointer"])
    above = pointer.rpartition("/")[0] if pointer else None
    return each["file"] == file and (stands in {pointer, above} or stands.startswith(f"{pointer}/"))


def _slugs_of(each: Mapping[str, Any]) -> Iterable[str]:
    return (str(origin).rpartition(":")[2] for origin in each["origin"])


MUTANTS = RowKind(_claims, _rows, _answer, _compare)
