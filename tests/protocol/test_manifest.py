"""What manifests of checkpoints say, and everything that is wrong with them by themselves."""

from __future__ import annotations

from typing import Any

import pytest
from protocol.manifests import ENTRY, encode, native, native_json, sign, upstream_json

from stagec.core.json import Json
from stagec.core.place import Pointer
from stagec.core.value import replace
from stagec.ir.protocol.checkpoint import (
    ManifestError,
    TrustLevel,
    encode_manifest,
    find_newest,
    find_place_faults,
    format_instant,
    read_instant,
    read_manifest,
)


def faults_of(given: Any) -> list[tuple[str, Pointer]]:
    return [(each.topic, each.pointer) for each in read_manifest(encode(given)).faults]


def test_a_native_manifest_says_what_was_written() -> None:
    for manifest in (native(), native(status="interrupted", reason="timeout", attempt=2, trust=TrustLevel.IMPORTED)):
        assert read_manifest(encode_manifest(manifest)).manifest == manifest


def test_a_foreign_manifest_is_read() -> None:
    judged = read_manifest(encode(upstream_json()))
    assert judged.faults == ()
    assert judged.manifest is not None
    assert judged.manifest.checkpoint == "ckpt-001"
    assert not judged.manifest.native


@pytest.mark.parametrize("member", sorted(upstream_json()))
def test_every_foreign_member_is_demanded_or_digested(member: str) -> None:
    given = upstream_json()
    del given[member]
    assert faults_of(given), member


@pytest.mark.parametrize("other", [None, 7, True, "", "x", [], {}])
def test_no_native_member_can_be_changed(other: Json) -> None:
    assert [member for member in native_json() if not faults_of(native_json(**{member: other}))] == []


@pytest.mark.parametrize("other", [None, 7, True, "", "x", [], {}])
def test_no_foreign_member_can_be_changed(other: Json) -> None:
    given = upstream_json()
    assert [member for member in given if not faults_of({**given, member: other})] == []


def test_a_member_that_nobody_knows_is_digested() -> None:
    for given in (upstream_json(), native_json()):
        assert faults_of({**given, "zzz": 1}) == [("changed-manifest", ("manifestSha256",))]
        assert faults_of(sign({**given, "zzz": 1})) == []


def test_the_digest_of_a_foreign_manifest_is_compared_letter_by_letter() -> None:
    given = upstream_json()
    assert faults_of({**given, "manifestSha256": str(given["manifestSha256"]).upper()}) == [
        ("changed-manifest", ("manifestSha256",))
    ]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"checkpointId": ""}, ("malformed-checkpoint-value", ("checkpointId",))),
        ({"checkpointId": "a/b"}, ("unsafe-artifact-path", ("checkpointId",))),
        ({"runId": " "}, ("unsafe-artifact-path", ("runId",))),
        ({"stageId": "S02_eda"}, ("malformed-checkpoint-value", ("stageId",))),
        ({"stageId": "S01_load_data\n"}, ("malformed-checkpoint-value", ("stageId",))),
        ({"createdAt": "2026-02-30T10:30:00Z"}, ("malformed-checkpoint-value", ("createdAt",))),
        ({"createdAt": "2026-01-02T10:30:00+00:00"}, ("malformed-checkpoint-value", ("createdAt",))),
        ({"createdAt": "2100-02-29T10:30:00Z"}, ("malformed-checkpoint-value", ("createdAt",))),
        ({"createdAt": 1767349800}, ("mistyped-checkpoint-member", ("createdAt",))),
        ({"executionCount": -1}, ("malformed-checkpoint-value", ("executionCount",))),
        ({"executionCount": 1.5}, ("malformed-checkpoint-value", ("executionCount",))),
        ({"status": "SAVED"}, ("malformed-checkpoint-value", ("status",))),
        ({"status": "emergency"}, ("reasonless-emergency", ("reason",))),
        ({"trustLevel": "trusted"}, ("malformed-checkpoint-value", ("trustLevel",))),
        ({"notebook": {"path": "n"}}, ("incomplete-checkpoint", ("notebook", "checkpointCellId"))),
        ({"artifacts": [7]}, ("mistyped-checkpoint-member", ("artifacts", 0))),
        ({"rehydration": []}, ("mistyped-checkpoint-member", ("rehydration",))),
    ],
)
def test_each_mistake_in_a_foreign_manifest_is_one_fault(changes: dict[str, Json], fault: tuple[str, Pointer]) -> None:
    assert faults_of(upstream_json(**changes)) == [fault]


@pytest.mark.parametrize("created", ["2026-01-02T10:30Z", "2024-02-29T00:00:00Z", "2000-02-29T23:59:59.123456789Z"])
def test_times_that_are_allowed(created: str) -> None:
    assert faults_of(upstream_json(createdAt=created)) == []


def test_a_reason_is_not_demanded_while_other_members_cannot_be_read() -> None:
    assert faults_of(upstream_json(status="emergency", executionCount="5")) == [
        ("mistyped-checkpoint-member", ("executionCount",))
    ]
    assert len(faults_of(upstream_json(status="emergency", executionCount=-5))) == 2


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "a/CON", "a\\..\\b"])
def test_paths_that_lead_elsewhere_are_unsafe(path: str) -> None:
    artifacts: Json = [{"relativePath": path, "sha256": "a" * 64, "sizeBytes": 1}]
    for given in (upstream_json(artifacts=artifacts), sign(native_json(artifacts=artifacts))):
        assert faults_of(given) == [("unsafe-artifact-path", ("artifacts", 0, "relativePath"))]


def test_one_path_in_two_entries_is_told_at_the_second() -> None:
    entry: Json = {"relativePath": "a/b", "sha256": "a" * 64, "sizeBytes": 1}
    other: Json = {"relativePath": "a//b", "sha256": "b" * 64, "sizeBytes": 1}
    expected = [("repeated-artifact", ("artifacts", 1, "relativePath"))]
    assert faults_of(upstream_json(artifacts=[entry, other])) == expected


def test_an_id_that_does_not_follow_from_the_stage_is_told() -> None:
    assert faults_of(sign(native_json(checkpointId="ckpt-S02_x_y"))) == [("misplaced-checkpoint", ("checkpointId",))]


def test_a_form_that_is_not_known_is_all_there_is_to_say() -> None:
    assert faults_of({"format": "stagec.checkpoint/2"}) == [("unknown-checkpoint-form", ("format",))]


@pytest.mark.parametrize(
    "changes",
    [
        {"report": "../x"},
        {"run": ""},
        {"stage": "load"},
        {"created": "yesterday"},
        {"status": "emergency"},
        {"status": "interrupted"},
        {"artifacts": (ENTRY, ENTRY)},
        {"artifacts": (replace(ENTRY, sha256="unknown"),)},
        {"artifacts": (replace(ENTRY, path="../x"),)},
        {"artifacts": (replace(ENTRY, size=-1),)},
        {"report": "\ud800"},
    ],
)
def test_what_nobody_could_read_is_not_written(changes: dict[str, Any]) -> None:
    with pytest.raises(ManifestError):
        encode_manifest(native(**changes))


@pytest.mark.parametrize(
    ("path", "pointers"),
    [
        ("/p/reports/wine/run-001/checkpoints/ckpt-S01_load_data.json", []),
        ("/p/reports/wine/run-002/checkpoints/ckpt-S01_load_data.json", [("runId",)]),
        ("/p/reports/beer/run-002/checkpoints/ckpt-x.json", [("checkpointId",), ("runId",), ("reportTitle",)]),
        ("/p/reports/wine/run-001/other/ckpt-S01_load_data.json", [()]),
        ("/a.json", [()]),
    ],
)
def test_ids_agree_with_the_path(path: str, pointers: list[Pointer]) -> None:
    assert [each.pointer for each in find_place_faults(native(), path)] == pointers


def test_the_stricter_level_wins() -> None:
    assert TrustLevel.LOCAL.tighten(TrustLevel.IMPORTED) is TrustLevel.IMPORTED
    assert TrustLevel.UNTRUSTED.tighten(TrustLevel.LOCAL) is TrustLevel.UNTRUSTED


def test_the_newest_is_found_by_time_and_the_first_of_several() -> None:
    times = ["2026-01-01T10:00Z", "2026-01-01T10:00:00.900Z", "2026-01-01T10:00:00.9004Z", "2025-12-31T23:59:59Z"]
    manifests = [native(created=each, attempt=number) for number, each in enumerate(times)]
    assert find_newest(manifests) is manifests[1]
    assert find_newest([]) is None


def test_a_time_is_written_as_it_is_read() -> None:
    assert format_instant(1767349800.25) == "2026-01-02T10:30:00.250Z"
    assert read_instant(format_instant(1767349800.25)) == ("2026-01-02T10:30", 250)
