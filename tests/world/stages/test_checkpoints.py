"""Checkpoints on a disk: whatever was changed since they were written is found, at the trust levels that demand it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from protocol.manifests import CONTENT, ENTRY, encode, native, sign, upstream_json

from stagec.core.disk import open_folder
from stagec.core.folders import remove_tree
from stagec.core.json import Json
from stagec.ir.protocol.checkpoint import Manifest, TrustLevel, encode_manifest
from stagec.runtime.world.checkpoints import (
    LARGEST,
    judge_checkpoint,
    list_manifests,
)


def write_checkpoint(run: Path, manifest: Manifest) -> Path:
    path = run / "checkpoints" / f"{manifest.checkpoint}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(encode_manifest(manifest))
    return path


LEVELS = tuple(TrustLevel)
STRICT = LEVELS[1:]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return the directory of a run with one artifact."""
    folder = tmp_path / "project" / "reports" / "wine" / "run-001"
    (folder / "S01_load_data").mkdir(parents=True)
    (folder / ENTRY.path).write_bytes(CONTENT)
    return folder


@pytest.fixture
def checkpoint(run: Path) -> Path:
    """Return a native checkpoint of that artifact."""
    return write_checkpoint(run, native())


@pytest.fixture
def foreign(run: Path) -> Path:
    """Return a checkpoint of that artifact in the layout of the reference implementation."""
    path = run.parent / "checkpoints" / "run-001" / "ckpt-001" / "checkpoint.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(encode(upstream_json()))
    return path


def topics(path: Path, trust: TrustLevel = TrustLevel.LOCAL) -> list[tuple[str, str]]:
    return [(each.topic, each.reason) for each in judge_checkpoint(path, trust).faults]


@pytest.mark.parametrize("trust", LEVELS)
def test_a_checkpoint_as_written_is_valid_at_every_level(checkpoint: Path, foreign: Path, trust: TrustLevel) -> None:
    for path in (checkpoint, foreign):
        judged = judge_checkpoint(path, trust)
        assert judged.is_valid
        assert judged.trust is trust


@pytest.mark.parametrize("claimed", LEVELS)
@pytest.mark.parametrize("source", LEVELS)
def test_a_manifest_cannot_make_itself_more_trusted(run: Path, claimed: TrustLevel, source: TrustLevel) -> None:
    path = write_checkpoint(run, native(trust=claimed))
    assert judge_checkpoint(path, source).trust is claimed.tighten(source)


def tamper(path: Path, change: Callable[[dict[str, Any]], object], *, signs: bool) -> None:
    given = json.loads(path.read_bytes())
    change(given)
    path.write_bytes(encode(sign(given) if signs else given))


def fields(given: Json, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the way to every value in a manifest that is no container."""
    pairs = given.items() if isinstance(given, dict) else enumerate(given) if isinstance(given, list) else ()
    return [way for key, each in pairs for way in fields(each, (*at, key))] or ([at] if at else [])


def alter(given: Any, way: tuple[str | int, ...]) -> None:
    for key in way[:-1]:
        given = given[key]
    old = given[way[-1]]
    given[way[-1]] = old + 1 if isinstance(old, int) else f"{old}x" if isinstance(old, str) else "x"


@pytest.mark.parametrize("kind", ["checkpoint", "foreign"])
def test_no_field_can_be_changed(kind: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(kind)
    before = path.read_bytes()
    for way in fields(json.loads(before)):
        tamper(path, lambda given, way=way: alter(given, way), signs=False)
        assert topics(path), way
        path.write_bytes(before)


DEMANDED = {
    "checkpointId",
    "reportTitle",
    "runId",
    "relativePath",
    "sha256",
    "sizeBytes",
    "format",
    "algorithm",
    "pathBase",
}
"""Members that can be held against something besides the digest, which anybody can compute again."""


@pytest.mark.parametrize("kind", ["checkpoint", "foreign"])
def test_what_the_disk_contradicts_is_refused_even_with_a_fitting_digest(
    kind: str, request: pytest.FixtureRequest
) -> None:
    path: Path = request.getfixturevalue(kind)
    before = path.read_bytes()
    ways = [way for way in fields(json.loads(before)) if way[-1] in DEMANDED]
    assert len(ways) >= 6
    for way in ways:
        tamper(path, lambda given, way=way: alter(given, way), signs=True)
        assert topics(path), way
        path.write_bytes(before)


@pytest.mark.parametrize("trust", LEVELS)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda path: path.write_bytes(CONTENT.replace(b"1", b"9")), ("changed-artifact", "digest")),
        (lambda path: path.write_bytes(CONTENT[:-1]), ("changed-artifact", "size")),
        (lambda path: path.write_bytes(CONTENT + b"x"), ("changed-artifact", "size")),
        (lambda path: path.write_bytes(b""), ("changed-artifact", "size")),
        (lambda path: path.unlink(), ("missing-artifact", "")),
        (lambda path: (path.unlink(), path.mkdir()), ("irregular-artifact", "folder")),
        (lambda path: (path.unlink(), os.mkfifo(path)), ("irregular-artifact", "special")),
        (lambda path: (path.rename(path.parent / "x"), path.symlink_to("x")), ("linked-artifact", "file")),
        (lambda path: (path.unlink(), path.symlink_to("nowhere")), ("linked-artifact", "file")),
        (lambda path: (path.unlink(), path.parent.rmdir(), path.parent.write_bytes(b"")), ("missing-artifact", "")),
    ],
)
def test_an_artifact_that_is_another_one_is_refused(
    run: Path, checkpoint: Path, foreign: Path, trust: TrustLevel, change: Any, expected: tuple[str, str]
) -> None:
    change(run / ENTRY.path)
    assert topics(checkpoint, trust) == [expected]
    assert topics(foreign, trust) == [expected]


def link_away(folder: Path, target: Path) -> None:
    """Move a folder elsewhere and leave a link to it."""
    folder.rename(target)
    folder.symlink_to(target)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_link_in_place_of_each_folder_is_refused_unless_the_checkpoint_is_local(
    tmp_path: Path, foreign: Path, run: Path, depth: int
) -> None:
    data = foreign.read_bytes()
    project = tmp_path / "project"
    link_away([run / "S01_load_data", run, run.parent, run.parent.parent][depth - 1], project / "elsewhere")
    foreign.parent.mkdir(parents=True, exist_ok=True)
    foreign.write_bytes(data)
    assert topics(foreign) == []
    for trust in STRICT:
        assert topics(foreign, trust) == [("linked-artifact", "folder")]


@pytest.mark.parametrize("trust", LEVELS)
def test_a_folder_outside_is_refused_at_every_level(
    tmp_path: Path, run: Path, checkpoint: Path, foreign: Path, trust: TrustLevel
) -> None:
    link_away(run / "S01_load_data", tmp_path / "outside")
    expected = ("escaping-artifact", "") if trust is TrustLevel.LOCAL else ("linked-artifact", "folder")
    assert topics(checkpoint, trust) == [expected]
    assert topics(foreign, trust) == [expected]


@pytest.mark.parametrize("trust", LEVELS)
@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "S01_load_data/../../secret", "..\\secret"])
def test_a_path_that_climbs_out_is_refused_before_the_disk_is_asked(
    run: Path, foreign: Path, trust: TrustLevel, path: str
) -> None:
    entry: Json = {"relativePath": path, "sha256": ENTRY.sha256, "sizeBytes": ENTRY.size}
    (run.parent / "secret").write_bytes(CONTENT)
    foreign.write_bytes(encode(upstream_json(artifacts=[entry])))
    assert topics(foreign, trust) == [("unsafe-artifact-path", "path")]


def test_a_name_that_no_file_can_have_is_a_missing_file(foreign: Path) -> None:
    entry: Json = {"relativePath": "a\ud800b", "sha256": ENTRY.sha256, "sizeBytes": ENTRY.size}
    foreign.write_bytes(json.dumps(upstream_json(artifacts=[entry])).encode())
    assert topics(foreign) == [("missing-artifact", "")]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda path: path.unlink(), "system"),
        (lambda path: (path.unlink(), path.mkdir()), "special"),
        (lambda path: (path.unlink(), os.mkfifo(path)), "special"),
        (lambda path: (path.rename(path.parent / "x"), path.symlink_to("x")), "link"),
        (lambda path: path.write_bytes(b" " * (LARGEST + 1)), "oversized"),
        (lambda path: path.write_bytes(b"{"), "json"),
    ],
)
def test_a_manifest_that_cannot_be_read_is_refused(checkpoint: Path, change: Any, reason: str) -> None:
    change(checkpoint)
    assert topics(checkpoint) == [("unreadable-checkpoint", reason)]


def test_a_manifest_at_another_place_is_refused(checkpoint: Path, foreign: Path) -> None:
    assert topics(checkpoint.rename(checkpoint.with_name("ckpt-S02_x_y.json"))) == [("misplaced-checkpoint", "path")]
    moved = foreign.rename(foreign.with_name("other.json"))
    assert ("misplaced-checkpoint", "layout") in topics(moved)


def test_one_mistake_is_one_fault(run: Path, checkpoint: Path, foreign: Path) -> None:
    """A manifest that lies in another run means other files; a name that is none is not said to be another one."""
    (run / ENTRY.path).unlink()
    other = run.parent / "run-002" / "checkpoints" / checkpoint.name
    other.parent.mkdir(parents=True)
    assert topics(checkpoint.rename(other)) == [("misplaced-checkpoint", "path")]
    foreign.write_bytes(encode(upstream_json(checkpointId="../x", artifacts=[])))
    assert topics(foreign) == [("unsafe-artifact-path", "name")]


def test_what_a_changed_manifest_says_is_not_followed(run: Path, checkpoint: Path) -> None:
    (run / ENTRY.path).unlink()
    tamper(checkpoint, lambda given: given.update(runId="run-777"), signs=False)
    assert topics(checkpoint) == [("changed-manifest", "")]


def test_manifests_are_listed_in_both_layouts_and_links_are_not_followed(
    tmp_path: Path, run: Path, checkpoint: Path, foreign: Path
) -> None:
    for name in ("notes.txt", "trainer_state.json"):
        (run / "checkpoints" / name).write_text("{}", encoding="utf-8")
    (run / "loop").symlink_to(tmp_path)
    (run / ".attempts" / "checkpoints").mkdir(parents=True)
    (run / ".attempts" / "checkpoints" / "ckpt-x.json").write_text("{}", encoding="utf-8")
    assert list_manifests(tmp_path) == tuple(sorted([checkpoint, foreign]))
    assert list_manifests(run) == (checkpoint,)
    assert list_manifests(run / "checkpoints") == (checkpoint,)
    (tmp_path / "link").symlink_to(run)
    assert list_manifests(tmp_path / "link") == ()


def test_folders_that_are_deeper_than_python_calls_are_listed(tmp_path: Path) -> None:
    deep = str(tmp_path)
    for name in (*["a"] * 1500, "checkpoints"):
        deep = f"{deep}/{name}"
        os.mkdir(deep)
    Path(deep, "ckpt-S01_load_data.json").write_bytes(b"{}")
    assert [each.name for each in list_manifests(tmp_path)] == ["ckpt-S01_load_data.json"]
    with open_folder(tmp_path) as top:
        remove_tree(top, "a")
