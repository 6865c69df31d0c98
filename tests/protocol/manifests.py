"""Manifests for tests, in both forms."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stagec.core.json import Json
from stagec.ir.protocol.checkpoint import (
    DIGEST,
    ArtifactEntry,
    Manifest,
    digest_canonical,
    digest_stringified,
    encode_manifest,
)

CONTENT = b"a,b\n1,2\n"
ENTRY = ArtifactEntry("S01_load_data/df.csv", "492d5ea496056f1a6a6592241032fab764c321596317930b4fa0e1e8bc3b7470", 8)
"""The entry of a file with that content."""


def native(**changes: Any) -> Manifest:
    """Return a native manifest with some of its fields changed."""
    given: dict[str, Any] = {
        "report": "wine",
        "run": "run-001",
        "stage": "S01_load_data",
        "created": "2026-01-02T10:30:00.000Z",
        "artifacts": (ENTRY,),
    }
    return Manifest(**{**given, **changes})


def native_json(**changes: Json) -> dict[str, Json]:
    """Return a native manifest as JSON, with some of its members changed and the digest that it had before."""
    return {**json.loads(encode_manifest(native())), **changes}


def upstream_json(**changes: Json) -> dict[str, Json]:
    """Return a manifest as the reference implementation writes it, with its digest; None leaves a member out."""
    given: dict[str, Json] = {
        "checkpointId": "ckpt-001",
        "researchSessionID": "ses_x",
        "reportTitle": "wine",
        "runId": "run-001",
        "stageId": "S01_load_data",
        "status": "saved",
        "trustLevel": "local",
        "createdAt": "2026-01-02T10:30:00Z",
        "executionCount": 5,
        "notebook": {"path": "notebooks/wine.ipynb", "checkpointCellId": "cell-1"},
        "pythonEnv": {"pythonPath": "python3", "packages": ["pandas==2.0.0"], "platform": "linux"},
        "artifacts": [
            {"relativePath": f"reports/wine/run-001/{ENTRY.path}", "sha256": ENTRY.sha256, "sizeBytes": ENTRY.size}
        ],
        "rehydration": {"mode": "artifacts_only", "rehydrationCellSource": ["print('x')"]},
    }
    return sign({name: each for name, each in {**given, **changes}.items() if each is not None})


def sign(given: Mapping[str, Json]) -> dict[str, Json]:
    """Return a manifest with the digest that fits it, as anybody can compute it."""
    own = digest_canonical(given) if "format" in given else digest_stringified(given)
    return {**given, DIGEST: own}


def encode(given: Mapping[str, Json]) -> bytes:
    """Return a manifest as a file has it."""
    return json.dumps(given, indent=2, ensure_ascii=False).encode()
