"""Checkpoints from elsewhere are copied into a run whole, verified and marked, or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from protocol.manifests import CONTENT, ENTRY, encode, native, upstream_json

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.protocol.checkpoint import ArtifactEntry, TrustLevel, encode_manifest
from stagec.runtime.world import checkpoints
from stagec.runtime.world.checkpoints import import_checkpoint, judge_checkpoint, judge_import
from stagec.runtime.world.stage_files import RunFolder

MADE = "checkpoints/ckpt-S01_load_data.json"


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """Return a checkpoint of the reference implementation in another project."""
    project = tmp_path / "other"
    for path, data in (
        (f"reports/wine/run-001/{ENTRY.path}", CONTENT),
        ("models/shared.bin", CONTENT),
        ("reports/wine/checkpoints/run-001/ckpt-001/checkpoint.json", encode(describe("models/shared.bin"))),
    ):
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_bytes(data)
    return project / "reports/wine/checkpoints/run-001/ckpt-001/checkpoint.json"


def describe(*paths: str) -> dict[str, Json]:
    """Return a manifest of the file of its stage, and of others."""
    every = (f"reports/wine/run-001/{ENTRY.path}", *paths)
    return upstream_json(artifacts=[{"relativePath": p, "sha256": ENTRY.sha256, "sizeBytes": 8} for p in every])


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """Return a run of this project that has begun."""
    run = RunFolder(tmp_path, "wine", "run-002")
    run.make()
    return run


def bring_in(path: Path, run: RunFolder, trust: TrustLevel = TrustLevel.IMPORTED) -> str:
    return import_checkpoint(path, judge_import(path, trust, run), run)


@pytest.mark.parametrize("trust", [TrustLevel.IMPORTED, TrustLevel.UNTRUSTED])
def test_a_checkpoint_is_one_of_the_run_and_remembers_where_it_comes_from(
    foreign: Path, run: RunFolder, trust: TrustLevel
) -> None:
    assert bring_in(foreign, run, trust) == "ckpt-S01_load_data"
    made = judge_checkpoint(Path(run.path, MADE))
    assert made.is_valid
    assert made.trust is trust
    assert made.manifest is not None
    assert [each.path for each in made.manifest.artifacts] == [ENTRY.path, "S01_load_data/models/shared.bin"]
    assert Path(run.path, ENTRY.path).read_bytes() == CONTENT
    assert os.listdir(Path(run.path, ".attempts")) == []


def test_a_native_checkpoint_is_brought_in_too(tmp_path: Path, run: RunFolder) -> None:
    other = tmp_path / "other" / "reports" / "wine" / "run-001"
    (other / "S01_load_data").mkdir(parents=True)
    (other / ENTRY.path).write_bytes(CONTENT)
    (other / "checkpoints").mkdir()
    (other / MADE).write_bytes(encode_manifest(native()))
    bring_in(other / MADE, run)
    assert judge_checkpoint(Path(run.path, MADE)).trust is TrustLevel.IMPORTED


def test_the_level_of_the_manifest_counts_if_it_is_stricter(foreign: Path, run: RunFolder) -> None:
    foreign.write_bytes(encode(upstream_json(trustLevel="untrusted")))
    bring_in(foreign, run)
    assert judge_checkpoint(Path(run.path, MADE)).trust is TrustLevel.UNTRUSTED


@pytest.mark.parametrize("taken", ["S01_load_data/x", MADE])
def test_nothing_is_overwritten(foreign: Path, run: RunFolder, taken: str) -> None:
    path = Path(run.path, taken)
    path.parent.mkdir()
    path.write_text("own", encoding="utf-8")
    judged = judge_import(foreign, TrustLevel.IMPORTED, run)
    assert [each.topic for each in judged.faults] == ["occupied-checkpoint"]
    with pytest.raises(OSError, match="not valid"):
        import_checkpoint(foreign, judged, run)
    assert path.read_text(encoding="utf-8") == "own"


def test_a_checkpoint_of_an_interrupted_stage_is_refused(foreign: Path, run: RunFolder) -> None:
    foreign.write_bytes(encode(upstream_json(status="emergency", reason="timeout")))
    assert [each.topic for each in judge_import(foreign, TrustLevel.IMPORTED, run).faults] == ["unfinished-checkpoint"]


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_bytes(CONTENT.replace(b"1", b"9")),
        lambda path: path.write_bytes(CONTENT + b"x"),
        lambda path: path.unlink(),
        lambda path: (path.rename(path.parent / "x"), path.symlink_to("x")),
    ],
)
def test_a_file_that_changes_between_the_check_and_the_copy_is_not_brought_in(
    foreign: Path, run: RunFolder, change: Any
) -> None:
    judged = judge_import(foreign, TrustLevel.IMPORTED, run)
    change(foreign.parents[3] / "run-001" / ENTRY.path)
    with pytest.raises(OSError, match="has changed meanwhile"):
        import_checkpoint(foreign, judged, run)
    assert_nothing_was_brought_in(run)


def test_a_file_that_changes_while_it_is_copied_is_not_brought_in(
    foreign: Path, run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_and_change(base: Path, entry: ArtifactEntry, trust: TrustLevel) -> int:
        opened = open_artifact(base, entry, trust)
        (foreign.parents[3] / "run-001" / ENTRY.path).write_bytes(CONTENT * 1000)
        return opened

    open_artifact = checkpoints.open_artifact
    judged = judge_import(foreign, TrustLevel.IMPORTED, run)
    monkeypatch.setattr(checkpoints, "open_artifact", open_and_change)
    with pytest.raises(OSError, match="has changed meanwhile"):
        import_checkpoint(foreign, judged, run)
    assert_nothing_was_brought_in(run)


def assert_nothing_was_brought_in(run: RunFolder) -> None:
    assert os.listdir(run.path) == [".attempts"]
    assert os.listdir(Path(run.path, ".attempts")) == []


def test_two_files_that_would_have_one_path_are_refused(foreign: Path, run: RunFolder) -> None:
    (foreign.parents[5] / "df.csv").write_bytes(CONTENT)
    foreign.write_bytes(encode(describe("df.csv")))
    with pytest.raises(FileExistsError):
        bring_in(foreign, run)
    assert_nothing_was_brought_in(run)


def test_nothing_is_written_through_a_link(tmp_path: Path, foreign: Path, run: RunFolder) -> None:
    (tmp_path / "outside").mkdir()
    Path(run.path, ".attempts").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match="link"):
        bring_in(foreign, run)
    assert os.listdir(tmp_path / "outside") == []


def test_a_checkpoint_that_is_not_valid_is_never_copied(foreign: Path, run: RunFolder) -> None:
    judged = judge_import(foreign, TrustLevel.IMPORTED, run)
    with pytest.raises(OSError, match="not valid"):
        import_checkpoint(foreign, replace(judged, manifest=None), run)
    assert os.listdir(run.path) == []
