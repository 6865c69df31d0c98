"""Agent folders: one row each, answered with what `validate` counts; any count will do, a crash will not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any

from stagec.core.diagnostic import Severity
from stagec.core.json import Json
from stagec_dev.compiling import diagnostics
from stagec_dev.row import Agreement, Row, RowKind


def _claims(file: str) -> bool:
    path = PurePosixPath(file)
    return path.name == "steps_registry.json" and not {"bases", "soundness"} & {*path.parts}


def _rows(_root: Path, file: str) -> Iterable[Row]:
    folder = PurePosixPath(file).parent
    yield Row(str(folder.parent), folder.name)


def _answer(root: Path, row: Row) -> Json:
    found = diagnostics(root / row.file / row.id)
    severities = Counter(each.severity for each in found)
    errors = severities[Severity.ERROR]
    codes = dict(sorted(Counter(each.code for each in found).items()))
    return {"exit": int(errors > 0), "errors": errors, "warnings": severities[Severity.WARNING], "codes": codes}


def _compare(_row: Row, got: Any) -> Agreement:
    calm = isinstance(got, dict) and got.get("exit") in {0, 1}
    return Agreement.AGREE if calm else Agreement.DISAGREE


AGENTS = RowKind(_claims, _rows, _answer, _compare)
