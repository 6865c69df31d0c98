"""Manifests of checkpoints with the verdict of upstream's schema, and with the digest that upstream computes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stagec.core.json import Json
from stagec.core.place import Pointer
from stagec.protocol.manifest_shape import find_shape_faults
from stagec.protocol.manifest_text import digest_stringified, read_json
from stagec_dev.listing import list_rows
from stagec_dev.row import Agreement, Row, RowKind

_FILES = ("checkpoint_schema_edge", "checkpoint_schema_upstream_tests", "manifest_hash")
_WHOLE = "CheckpointManifestSchema"
_PARTS: Mapping[str, Pointer] = {
    "ArtifactEntrySchema": ("artifacts", 0),
    "CheckpointStatusSchema": ("status",),
    "EmergencyReasonSchema": ("reason",),
    "NotebookReferenceSchema": ("notebook",),
    "PythonEnvMetadataSchema": ("pythonEnv",),
    "RehydrationConfigSchema": ("rehydration",),
    "RehydrationModeSchema": ("rehydration", "mode"),
    "TrustLevelSchema": ("trustLevel",),
}
"""Where in a manifest stands what the schema of a part judges."""
_AROUND: dict[str, Any] = {
    "checkpointId": "ckpt-001",
    "researchSessionID": "ses",
    "reportTitle": "report",
    "runId": "run-001",
    "stageId": "S01_load_data",
    "createdAt": "2026-01-02T10:30:00Z",
    "executionCount": 0,
    "status": "saved",
    "notebook": {"path": "a.ipynb", "checkpointCellId": "cell"},
    "pythonEnv": {"pythonPath": "python", "packages": [], "platform": "linux"},
    "artifacts": [None],
    "rehydration": {"mode": "artifacts_only", "rehydrationCellSource": []},
    "manifestSha256": "0" * 64,
}
"""A manifest around such a part."""


def _claims(file: str) -> bool:
    return file in {f"stage-protocol/{name}.json" for name in _FILES}


def _answer(_root: Path, row: Row) -> Json:
    given = row.given
    if "manifest_json_text" in given:
        manifest = read_json(given["manifest_json_text"].encode())
        return {"sha256": digest_stringified(manifest) if isinstance(manifest, dict) else None}
    at = () if given["schema"] == _WHOLE else _PARTS[given["schema"]]
    whole = _place(given.get("input"), at)
    if not isinstance(whole, dict):
        return {"ok": False, "issue_paths": [""]}
    found = [each.pointer[len(at) :] for each in find_shape_faults(whole) if each.pointer[: len(at)] == at]
    return {"ok": not found, "issue_paths": [".".join(map(str, pointer)) for pointer in found]}


def _place(part: Json, at: Pointer) -> Json:
    if not at:
        return part
    whole = copy.deepcopy(_AROUND)
    inner: Any = whole
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = part
    return whole


def _compare(row: Row, got: Any) -> Agreement:
    return Agreement.AGREE if all(row.given[name] == each for name, each in got.items()) else Agreement.DISAGREE


CHECKPOINT_MANIFESTS = RowKind(_claims, list_rows, _answer, _compare)
