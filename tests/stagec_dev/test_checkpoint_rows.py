"""Rows about checkpoints agree only where the answer is the one that the row gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from protocol.manifests import CONTENT, ENTRY, encode, sign, upstream_json

from stagec.core.json import Json
from stagec_dev.rows import Agreement, Row
from stagec_dev.rows.checkpoint_scenarios import CHECKPOINT_SCENARIOS
from stagec_dev.rows.protocol import ARTIFACT_PATHS, CHECKPOINT_MANIFESTS

ARGS = {"reportTitle": "wine", "runId": "run-001", "checkpointId": "ckpt-001"}
PLACE = "reports/wine/checkpoints/run-001/ckpt-001/checkpoint.json"


def files(manifest: dict[str, Json], content: bytes = CONTENT) -> dict[str, Any]:
    return {
        PLACE: {"utf8": encode(manifest).decode()},
        f"reports/wine/run-001/{ENTRY.path}": {"utf8": content.decode()},
    }


def judge(action: str, result: dict[str, Json] | None, **given: Any) -> Agreement:
    """Return how stagec's answer stands to that of a row with one step."""
    step = {"args": {**ARGS, "action": action, **given.pop("args", {})}, "ok": result is not None, "result": result}
    row = Row("checkpoint_scenarios_edge.json", "one", {"steps": [{**step, **given}], "pre": given.get("pre", {})})
    return CHECKPOINT_SCENARIOS.compare(row, CHECKPOINT_SCENARIOS.answer(Path(), row))


@pytest.mark.parametrize(
    ("manifest", "content", "valid", "issues"),
    [
        (upstream_json(), CONTENT, True, []),
        (upstream_json(), b"other", False, ["size"]),
        (sign({**upstream_json(), "runId": "run-777"}), CONTENT, True, []),
    ],
)
def test_what_a_validation_says_is_compared(
    manifest: dict[str, Json], content: bytes, *, valid: bool, issues: list[Json]
) -> None:
    pre = files(manifest, content)
    assert judge("validate", {"valid": valid, "issues": issues}, pre=pre) is Agreement.AGREE
    assert judge("validate", {"valid": not valid, "issues": issues}, pre=pre) is Agreement.DISAGREE
    assert judge("validate", {"valid": valid, "issues": [*issues, "x"]}, pre=pre) is Agreement.DISAGREE


def test_what_a_resume_finds_is_compared() -> None:
    pre = files(upstream_json(trustLevel="imported"))
    told = {"checkpointId": "ckpt-001", "runId": "run-001", "stageId": "S01_load_data", "status": "saved"}
    found: dict[str, Json] = {
        "found": True,
        "searchedCount": 1,
        "checkpoint": {**told, "createdAt": "2026-01-02T10:30:00Z", "artifactCount": 1},
        "trustWarning": "imported",
    }
    assert judge("resume", found, pre=pre) is Agreement.AGREE
    for name, other in (("found", False), ("searchedCount", 2), ("checkpoint", dict.fromkeys(told, "x"))):
        changed = {**found, name: {**other, "createdAt": "", "artifactCount": 0} if isinstance(other, dict) else other}
        assert judge("resume", changed, pre=pre) is Agreement.DISAGREE
    del found["trustWarning"]
    assert judge("resume", found, pre=pre) is Agreement.DISAGREE


@pytest.mark.parametrize("args", [{"runId": "a/b"}, {"reportTitle": None}, {"stageId": None}, {"checkpointId": "x."}])
def test_names_that_upstream_refuses_are_refused(args: dict[str, Json]) -> None:
    given = {"stageId": "S01_load_data", **args}
    assert judge("save", None, args=given) is Agreement.AGREE
    assert judge("save", {"success": True}, args=given) is Agreement.DISAGREE


def test_what_upstream_writes_and_loses_may_be_refused() -> None:
    args = {"stageId": "S01_load_data", "artifacts": [{"relativePath": "a", "sha256": "unknown", "sizeBytes": 0}]}
    lost = {PLACE: {"utf8": "{}"}}
    assert judge("save", {"success": True}, args=args) is Agreement.DISAGREE
    assert judge("save", {"success": True}, args=args, post_fs=lost) is Agreement.AGREE


def test_a_step_that_stagec_does_not_have_is_out_of_scope() -> None:
    assert judge("prune", {"pruned": 3}) is Agreement.OUT_OF_SCOPE


@pytest.mark.parametrize(
    ("kind", "given", "wrong"),
    [
        (ARTIFACT_PATHS, {"segment": "a/b", "ok": False}, {"ok": True}),
        (ARTIFACT_PATHS, {"path": "a/b", "root": "/r", "ok": True, "resolved": "/r/a/b"}, {"resolved": "/r/b"}),
        (ARTIFACT_PATHS, {"path": "a", "root": "$ROOT", "ok": True, "resolved": "$ROOT/a"}, {"resolved": "$ROOT/b"}),
        (ARTIFACT_PATHS, {"child": "/a/b", "parent": "/a", "contained": True}, {"contained": False}),
        (
            CHECKPOINT_MANIFESTS,
            {"schema": "TrustLevelSchema", "input": "trusted", "ok": False, "issue_paths": [""]},
            {"issue_paths": []},
        ),
        (
            CHECKPOINT_MANIFESTS,
            {"schema": "CheckpointManifestSchema", "input": upstream_json(), "ok": True, "issue_paths": []},
            {"ok": False},
        ),
        (CHECKPOINT_MANIFESTS, {"manifest_json_text": "[]", "sha256": None}, {"sha256": ""}),
    ],
)
def test_an_answer_that_differs_disagrees(kind: Any, given: dict[str, Any], wrong: dict[str, Any]) -> None:
    for change, wanted in (({}, Agreement.AGREE), (wrong, Agreement.DISAGREE)):
        row = Row("file", "one", {**given, **change})
        assert kind.compare(row, kind.answer(Path(), row)) is wanted
