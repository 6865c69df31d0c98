"""Rows of the stage protocol: artifacts, checkpoints, markers and states."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from stagec.core.disk import RefusedWriteError, open_folder
from stagec.core.json import Json
from stagec.core.place import Pointer
from stagec.ir.protocol.checkpoint import digest_stringified, find_shape_faults, read_json
from stagec.ir.protocol.lifecycle import GRACE, StageEvent, StageStatus, follow_event, grace_of, tier_of, watch_times
from stagec.ir.protocol.markers import Marker, read_markers
from stagec.ir.protocol.stage_ids import find_artifact_fault, find_segment_fault, is_contained, place_artifact
from stagec.runtime.world.checkpoints import write_durably
from stagec_dev.rows import Agreement, Row, RowKind, is_out_of_scope, list_rows, out_of_scope

_ARTIFACT_PATHS_FILES = ("artifact_paths", "path_containment", "path_segments_edge", "path_segments_upstream_tests")
_SOMEWHERE = "/some/folder"
"""The start of relative paths; upstream's own working folder is not in the rows."""


def _claims_artifact_paths(file: str) -> bool:
    return file in {f"stage-protocol/{name}.json" for name in _ARTIFACT_PATHS_FILES}


def _answer_artifact_paths(_root: Path, row: Row) -> Json:
    given = row.given
    if "child" in given:
        return {"contained": is_contained(given["child"], given["parent"], _SOMEWHERE)}
    if "path" not in given:  # a segment that is no value of JSON is not written
        return {"ok": find_segment_fault(given.get("segment")) is None}
    fault = find_artifact_fault(given["path"])
    return {"ok": fault is None, "resolved": place_artifact(given["root"], given["path"]) if fault is None else None}


def _compare_artifact_paths(row: Row, got: Any) -> Agreement:
    wanted = {name: row.given[name] for name in got}
    if str(wanted.get("resolved")).startswith("$"):  # the folder of a test, which is no absolute path
        wanted["resolved"] = f"/{wanted['resolved']}"
    return Agreement.AGREE if got == wanted else Agreement.DISAGREE


ARTIFACT_PATHS = RowKind(_claims_artifact_paths, list_rows, _answer_artifact_paths, _compare_artifact_paths)


def _claims_atomic_write(file: str) -> bool:
    return file == "stage-protocol/atomic_write.json"


def _answer_atomic_write(_root: Path, row: Row) -> Json:
    given = row.given["data"]
    data = b"x" * row.given["bytes"] if given is None else str(given).encode()
    with TemporaryDirectory() as folder, open_folder(folder) as opened:
        path = f"missing/folders/{row.given['name']}"
        try:
            for each in (b"{}", data):  # the second one takes the place of the first
                write_durably(opened, path, each)
        except RefusedWriteError:
            left = Path(folder, path).read_bytes() == b"{}"
            return {"ok": False, "whole": left and _is_alone(Path(folder, path))}
        return {"ok": True, "whole": Path(folder, path).read_bytes() == data and _is_alone(Path(folder, path))}


def _is_alone(path: Path) -> bool:
    return os.listdir(path.parent) == [path.name]


def _compare_atomic_write(row: Row, got: Any) -> Agreement:
    return Agreement.AGREE if got == {"ok": row.given["ok"], "whole": True} else Agreement.DISAGREE


ATOMIC_WRITE = RowKind(_claims_atomic_write, list_rows, _answer_atomic_write, _compare_atomic_write)


_CHECKPOINT_MANIFESTS_FILES = ("checkpoint_schema_edge", "checkpoint_schema_upstream_tests", "manifest_hash")
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
"""The place in a manifest that the schema of a part judges."""
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


def _claims_checkpoint_manifests(file: str) -> bool:
    return file in {f"stage-protocol/{name}.json" for name in _CHECKPOINT_MANIFESTS_FILES}


def _answer_checkpoint_manifests(_root: Path, row: Row) -> Json:
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


def _compare_checkpoint_manifests(row: Row, got: Any) -> Agreement:
    return Agreement.AGREE if all(row.given[name] == each for name, each in got.items()) else Agreement.DISAGREE


CHECKPOINT_MANIFESTS = RowKind(
    _claims_checkpoint_manifests, list_rows, _answer_checkpoint_manifests, _compare_checkpoint_manifests
)


def _claims_markers(file: str) -> bool:
    path = PurePosixPath(file)
    return path.parent.name == "stage-protocol" and path.name.startswith("markers_") and path.suffix == ".json"


def _answer_markers(_root: Path, row: Row) -> Json:
    found = read_markers(str(row.given["text"]).encode(errors="surrogatepass"))
    unknown = [each.type for each in found if not each.valid]
    return {
        "markers": [_show(each) for each in found],
        "validCount": len(found) - len(unknown),
        "unknownCount": len(unknown),
        "unknownTypes": list(dict.fromkeys(unknown)),
    }


def _show(marker: Marker) -> dict[str, Json]:
    return {
        "type": marker.type,
        "subtype": marker.subtype,
        "attributes": dict(marker.attributes),
        "content": marker.content,
        "lineNumber": marker.line,
        "valid": marker.valid,
        "category": str(marker.category),
    }


def _compare_markers(row: Row, got: Any) -> Agreement:
    wanted = _find_expected(row.given)
    if wanted is None:
        return Agreement.UNKNOWN
    counts = wanted if isinstance(wanted, dict) else {}
    same = all(got.get(name) == given for name, given in counts.items() if name != "markers")
    markers = counts["markers"] if counts else wanted
    return Agreement.AGREE if same and _is_like(markers, got["markers"]) else Agreement.DISAGREE


def _find_expected(given: Mapping[str, Any]) -> Any:
    """Return the answer that is wanted: that of the reference parser unless the row recommends the other."""
    recommended = given.get("recommended")
    if recommended is not None and not isinstance(recommended, str):
        return recommended
    return given.get("expected_py" if str(recommended).startswith("py") else "expected_ts")


def _is_like(wanted: Any, got: list[dict[str, Json]]) -> bool:
    """Tell whether all that is said of each marker is so; the parsers do not say the same things."""
    return len(wanted) == len(got) and all(
        each.items() <= found.items() for each, found in zip(wanted, got, strict=True)
    )


MARKERS = RowKind(_claims_markers, list_rows, _answer_markers, _compare_markers)


def _claims_state_machine(file: str) -> bool:
    return file == "stage-protocol/state_machine.json"


def _answer_state_machine(_root: Path, row: Row) -> Json:
    status, event = StageStatus(row.given["from"]), StageEvent(row.given["event"])
    try:
        return {"to": follow_event(status, event).value}
    except ValueError:
        return {"to": None}


def _compare_state_machine(row: Row, got: Any) -> Agreement:
    return Agreement.AGREE if row.given["to"] == got["to"] else Agreement.DISAGREE


STATE_MACHINE = RowKind(_claims_state_machine, list_rows, _answer_state_machine, _compare_state_machine)


def _claims_watchdog(file: str) -> bool:
    return file == "stage-protocol/watchdog.json"


def _answer_watchdog(_root: Path, row: Row) -> Json:
    if row.given["kind"] != "recommended":
        return out_of_scope("how upstream's programs and older pages escalate")
    duration = row.given["maxDurationSec"]
    times, grace = watch_times(duration), grace_of(duration)
    return {
        "tier": tier_of(duration).value,
        "soft": times.warn / 1000,
        "hard_sigint": times.interrupt / 1000,
        "sigterm": times.terminate / 1000,
        "sigkill": times.kill / 1000,
        "grace": grace,
        "clamped": grace < GRACE,
    }


def _compare_watchdog(row: Row, got: Any) -> Agreement:
    if is_out_of_scope(got):
        return Agreement.OUT_OF_SCOPE
    return Agreement.AGREE if all(row.given[key] == each for key, each in got.items()) else Agreement.DISAGREE


WATCHDOG = RowKind(_claims_watchdog, list_rows, _answer_watchdog, _compare_watchdog)
