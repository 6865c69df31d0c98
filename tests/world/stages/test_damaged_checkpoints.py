"""No damage to a checkpoint goes unseen: every byte of a manifest and of an artifact, and every value of a member."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaigns import choose, sample
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from protocol.manifests import CONTENT, ENTRY, encode, native, native_json, sign, upstream_json

from stagec.core.json import Json
from stagec.ir.protocol.checkpoint import TrustLevel, encode_manifest, read_manifest
from stagec.runtime.world.checkpoints import judge_checkpoint

OWN = "reports/wine/run-001/checkpoints/ckpt-S01_load_data.json"
FOREIGN = "reports/wine/checkpoints/run-001/ckpt-001/checkpoint.json"
MANIFESTS = {OWN: encode_manifest(native()), FOREIGN: encode(upstream_json())}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with a checkpoint in each layout."""
    for path, data in (*MANIFESTS.items(), (f"reports/wine/run-001/{ENTRY.path}", CONTENT)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    return tmp_path


def damage(data: bytes) -> Iterator[bytes]:
    """Yield a file with each byte changed, taken away or written twice, and cut off behind each."""
    for index in range(len(data)):
        before, byte, after = data[:index], data[index : index + 1], data[index + 1 :]
        yield from (before + bytes([byte[0] ^ 1]) + after, before + after, before + byte + byte + after, before)


def value_of(data: bytes) -> Json:
    try:
        found: Json = json.loads(data)
    except ValueError:
        return None
    return found


@pytest.mark.parametrize("path", MANIFESTS)
def test_every_byte_of_a_manifest_counts(project: Path, path: str) -> None:
    whole = value_of(MANIFESTS[path])
    for data in sample(list(damage(MANIFESTS[path])), 400):
        if value_of(data) == whole:  # only white space is another one
            continue
        (project / path).write_bytes(data)
        assert not judge_checkpoint(project / path).is_valid, data


def test_every_byte_of_an_artifact_counts(project: Path) -> None:
    for data in damage(CONTENT):
        (project / "reports/wine/run-001" / ENTRY.path).write_bytes(data)
        for path in MANIFESTS:
            assert [each.topic for each in judge_checkpoint(project / path).faults] == ["changed-artifact"], data


@given(st.sampled_from([*sorted(native_json()), "zzz"]), VALUES)
@settings(max_examples=choose(80, whole=300))
def test_no_value_of_a_native_member_makes_reading_fail(member: str, value: Json) -> None:
    for given_json in ({**native_json(), member: value}, sign({**native_json(), member: value})):
        judged = read_manifest(json.dumps(given_json).encode())
        assert judged.manifest is not None or judged.faults


@given(st.sampled_from([*sorted(upstream_json()), "format"]), VALUES)
@settings(max_examples=choose(80, whole=300))
def test_no_value_of_a_foreign_member_makes_reading_fail(member: str, value: Json) -> None:
    judged = read_manifest(json.dumps({**upstream_json(), member: value}).encode())
    assert judged.manifest is not None or judged.faults


@given(st.binary(max_size=40) | st.text('[]{}":,0e-u\\ \n', max_size=40).map(str.encode))
@settings(max_examples=choose(100, whole=400))
def test_no_bytes_make_reading_fail(data: bytes) -> None:
    judged = read_manifest(data)
    assert judged.manifest is None
    assert judged.faults


@given(path=st.text(st.sampled_from("./\\ab\0\ud800é ~-:\n\u202e") | st.characters(), min_size=1, max_size=12))
@settings(
    max_examples=choose(100, whole=400), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@pytest.mark.parametrize("trust", list(TrustLevel))
def test_no_path_of_an_artifact_makes_verifying_fail_or_leads_out(project: Path, trust: TrustLevel, path: str) -> None:
    (project.parent / "a").write_bytes(CONTENT)
    entry: Json = {"relativePath": path, "sha256": ENTRY.sha256, "sizeBytes": ENTRY.size}
    (project / FOREIGN).write_bytes(json.dumps(upstream_json(artifacts=[entry])).encode())
    assert not judge_checkpoint(project / FOREIGN, trust).is_valid
