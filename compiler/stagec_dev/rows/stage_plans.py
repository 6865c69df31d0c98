"""Ids of stages and whole stage plans, with the diagnostics that the specification wants for them."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stagec.core.diagnostic import Diagnostic
from stagec.core.json import Json
from stagec.core.place import Pointer
from stagec_dev.compiling import diagnostics
from stagec_dev.listing import list_rows
from stagec_dev.row import Agreement, Row, RowKind

_FILES = ("stage-protocol/stage_ids.json", "stage-protocol/plans_recommended.json")
_ORIGIN = "stage-protocol:"
_RULED = {"S01_do_stuff": [["stage-id-vague-verb", "error"]]}
"""Ids about which the rulings say something else than the rows."""


def _claims(file: str) -> bool:
    return file in _FILES


def _answer(_root: Path, row: Row) -> Json:
    if "stages" in row.given:
        return [_describe(each) for each in _compile(row.given["stages"])]
    envelope = {"stageId": row.given["stageId"], "goal": "Do the work of this stage", "maxDurationSec": 60}
    stage = {**envelope, "inputs": {}, "outputs": {"out": "out.json"}}
    return [_describe(each) for each in _compile([stage]) if each.origin[0].startswith(f"{_ORIGIN}stage-id-")]


def _compile(stages: Json) -> tuple[Diagnostic, ...]:
    with TemporaryDirectory() as folder:
        written = {"reportTitle": "demo", "stages": stages}
        Path(folder, "plan.json").write_text(json.dumps(written), encoding="utf-8")
        return diagnostics(Path(folder), "plan.json")


def _describe(each: Diagnostic) -> dict[str, Json]:
    slugs: list[Json] = [slug.removeprefix(_ORIGIN) for slug in each.origin]
    severity = {"note": "info"}.get(each.severity.value, each.severity.value)
    return {"slugs": slugs, "severity": severity, "at": _locate(each.at.pointer)}


def _locate(pointer: Pointer) -> str:
    parts = (f"[{key}]" if isinstance(key, int) else f".{key}" for key in pointer)
    return "".join(parts).removeprefix(".") or "$"


def _compare(row: Row, got: Any) -> Agreement:
    wanted = [tuple(each) for each in _RULED.get(row.given.get("stageId", ""), row.given["recommended"])]
    fits = len(wanted) == len(got) and all(any(_fits(each, found) for found in got) for each in wanted)
    return Agreement.AGREE if fits else Agreement.DISAGREE


def _fits(wanted: tuple[str, ...], found: Any) -> bool:
    """Tell whether a diagnostic is the one that a row wants; rows about ids do not say where."""
    slug, severity, *at = wanted
    return slug in found["slugs"] and severity == found["severity"] and (not at or at[0] == found["at"])


STAGE_PLANS = RowKind(_claims, list_rows, _answer, _compare)
