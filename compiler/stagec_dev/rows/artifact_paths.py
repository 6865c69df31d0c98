"""Names and paths of files of stages, with what upstream's checks say of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stagec.core.json import Json
from stagec.protocol.artifact_paths import find_artifact_fault, find_segment_fault, is_contained, place_artifact
from stagec_dev.listing import list_rows
from stagec_dev.row import Agreement, Row, RowKind

_FILES = ("artifact_paths", "path_containment", "path_segments_edge", "path_segments_upstream_tests")
_SOMEWHERE = "/some/folder"
"""What relative paths start from; upstream's own working folder is not in the rows."""


def _claims(file: str) -> bool:
    return file in {f"stage-protocol/{name}.json" for name in _FILES}


def _answer(_root: Path, row: Row) -> Json:
    given = row.given
    if "child" in given:
        return {"contained": is_contained(given["child"], given["parent"], _SOMEWHERE)}
    if "path" not in given:  # a segment that is no value of JSON is not written
        return {"ok": find_segment_fault(given.get("segment")) is None}
    fault = find_artifact_fault(given["path"])
    return {"ok": fault is None, "resolved": place_artifact(given["root"], given["path"]) if fault is None else None}


def _compare(row: Row, got: Any) -> Agreement:
    wanted = {name: row.given[name] for name in got}
    if str(wanted.get("resolved")).startswith("$"):  # the folder of a test, which is no absolute path
        wanted["resolved"] = f"/{wanted['resolved']}"
    return Agreement.AGREE if got == wanted else Agreement.DISAGREE


ARTIFACT_PATHS = RowKind(_claims, list_rows, _answer, _compare)
