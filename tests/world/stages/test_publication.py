"""Outputs are published whole or not at all, a checkpoint is the record of it, and doing it again changes nothing."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from rights import ordinary_rights
from world.stages.workshop import Workshop, is_success, stage, writes

from stagec.core.failure import Failure
from stagec.runtime.machine.exchange import Preserve, Publish

TWO = {"a": "a.txt", "b": "deep/er/b.txt"}


def shop_in(root: Path) -> Workshop:
    return Workshop(root, {"S01_load_data": stage(writes(["a", "b"]), TWO), "S02_eda": stage(""), "S03_end": stage("")})


def snapshot(root: Path) -> dict[str, bytes]:
    """Return the files that a run has published, and its checkpoints without their times."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_file() and ".attempts" not in path.parts and path.name != "run.log" and path.suffix != ".json":
            found[str(path.relative_to(root))] = path.read_bytes()
    return found


def test_what_is_published_is_in_the_directory_of_the_stage(tmp_path: Path) -> None:
    shop = shop_in(tmp_path)
    assert shop.complete("S01_load_data") == {"checkpoint": "ckpt-S01_load_data"}
    assert shop.path("S01_load_data/deep/er/b.txt").read_text(encoding="utf-8") == "b" * 1_000
    assert os.listdir(shop.path(".attempts")) == []
    assert shop.path("checkpoints/ckpt-S01_load_data.json").stat().st_mode & 0o777 == 0o600
    manifest = shop.manifest("ckpt-S01_load_data")
    assert (manifest["stageId"], manifest["status"], manifest["trustLevel"]) == ("S01_load_data", "saved", "local")
    assert manifest["artifacts"] == [
        {
            "relativePath": f"S01_load_data/{path}",
            "sha256": hashlib.sha256(name.encode() * 1_000).hexdigest(),
            "sizeBytes": 1_000,
        }
        for name, path in TWO.items()
    ]
    marker = "[CHECKPOINT:saved:id=ckpt-S01_load_data:stage=S01_load_data:manifest=checkpoints/ckpt-S01_load_data.json]"
    assert marker in shop.log().splitlines()


def test_what_another_process_has_not_published_any_more_is_finished(tmp_path: Path) -> None:
    shop = shop_in(tmp_path)
    good, bad = shop.execute("S01_load_data")["outputs"], {"o": {"path": "o", "sha256": "0" * 64, "sizeBytes": 1}}
    shop.world.close()
    shop.world = shop.open()
    pending = [
        Publish(shop.key("S01_load_data", 1, 1), "S01_load_data", good, checkpoint=True),
        Publish(shop.key("S02_eda", 1, 1), "S02_eda", bad, checkpoint=True),
        Preserve(shop.key("S03_end", 1, 1), "S03_end", "error"),
    ]
    assert shop.world.finish(pending) == {"S01_load_data": good}
    assert shop.path("S01_load_data/a.txt").exists()
    assert [each.name for each in shop.path("checkpoints").iterdir()] == ["ckpt-S01_load_data.json"]
    assert [stage for stage, _ in shop.told] == ["S02_eda"]


def test_a_stage_without_checkpoints_has_none(tmp_path: Path) -> None:
    shop = shop_in(tmp_path)
    answer = shop.execute("S01_load_data")
    assert shop.publish("S01_load_data", answer["outputs"], checkpoint=False) == {"checkpoint": None}
    assert shop.path("S01_load_data/a.txt").exists()
    assert not shop.path("checkpoints").exists()


def test_publishing_again_changes_nothing(tmp_path: Path) -> None:
    shop = shop_in(tmp_path)
    answer = shop.execute("S01_load_data")
    published = []
    for _ in range(3):
        assert shop.publish("S01_load_data", answer["outputs"]) == {"checkpoint": "ckpt-S01_load_data"}
        published.append(snapshot(tmp_path))
        shop.world.close()
        shop.world = shop.open()
    assert published[0] == published[1] == published[2]


def test_a_new_publication_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    shop = shop_in(tmp_path)
    shop.complete("S01_load_data")
    shop.path("S01_load_data/left-over").write_text("x", encoding="utf-8")
    assert shop.complete("S01_load_data", 2) == {"checkpoint": "ckpt-S01_load_data"}
    assert sorted(os.listdir(shop.path("S01_load_data"))) == ["a.txt", "deep"]
    assert shop.manifest("ckpt-S01_load_data")["attempt"] == 2
    assert os.listdir(shop.path(".attempts")) == []


def change(path: Path) -> None:
    path.write_bytes(b"c" * 1_000)


def shorten(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def link_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("real"))
    path.parent.symlink_to("real")


@pytest.mark.parametrize("harm", [change, shorten, os.remove, link, link_folder])
def test_outputs_that_are_not_what_was_recorded_are_never_published(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    shop = shop_in(tmp_path)
    answer = shop.execute("S01_load_data")
    harm(shop.path(".attempts/S01_load_data-1/deep/er/b.txt"))
    told = shop.publish("S01_load_data", answer["outputs"])
    assert "the output 'b' cannot be published" in str(told["error"])
    assert not shop.path("S01_load_data").exists()
    assert not shop.path("checkpoints").exists()


def test_an_attempt_that_is_gone_is_an_error(tmp_path: Path) -> None:
    shop = shop_in(tmp_path)
    answer = shop.execute("S01_load_data")
    shutil.rmtree(shop.path(".attempts"))
    assert "cannot be published" in str(shop.publish("S01_load_data", answer["outputs"])["error"])


def test_a_file_in_the_place_of_a_stage_or_of_the_checkpoints(tmp_path: Path) -> None:
    shop = shop_in(tmp_path)
    shop.path("S01_load_data").write_text("x", encoding="utf-8")
    assert shop.complete("S01_load_data") == {"checkpoint": "ckpt-S01_load_data"}
    assert shop.path("S01_load_data/a.txt").exists()
    shutil.rmtree(shop.path("checkpoints"))
    shop.path("checkpoints").symlink_to(tmp_path)
    assert "is a link" in str(shop.complete("S01_load_data", 2)["error"])
    assert sorted(each.name for each in tmp_path.iterdir()) == ["reports"]


def test_an_emergency_checkpoint_lists_what_hashes(tmp_path: Path) -> None:
    program = "Path(outputs['b']).write_text('b'); os.mkdir(outputs['a']); sys.exit(1)"
    shop = Workshop(tmp_path, {"S01_load_data": stage(program, TWO)})
    for attempt, reason in ((1, "error"), (2, "timeout"), (3, "abort")):
        shop.execute("S01_load_data", attempt)
        name = f"ckpt-emergency-S01_load_data-{attempt}"
        assert shop.preserve("S01_load_data", reason, attempt) == {"checkpoint": name, "valid": True}
        manifest = shop.manifest(name)
        assert (manifest["status"], manifest["reason"], manifest["attempt"]) == ("interrupted", reason, attempt)
        assert [each["relativePath"] for each in manifest["artifacts"]] == [
            f".attempts/S01_load_data-{attempt}/deep/er/b.txt"
        ]
        assert f"[CHECKPOINT:emergency:id={name}:stage=S01_load_data:reason={reason}]" in shop.log().splitlines()


def test_a_stage_can_start_again_only_from_valid_checkpoints_of_all_that_it_needs(tmp_path: Path) -> None:
    acts = {name: stage(writes(["a"]), {"a": "a"}) for name in ("S01_load_data", "S02_clean_data", "S03_plot_data")}
    needs = {"S02_clean_data": ("S01_load_data",), "S03_plot_data": ("S02_clean_data",)}
    shop = Workshop(tmp_path, acts, **needs)
    assert shop.preserve("S03_plot_data")["valid"] is False
    shop.complete("S01_load_data")
    assert shop.preserve("S02_clean_data")["valid"] is True
    assert shop.preserve("S03_plot_data")["valid"] is False
    shop.complete("S02_clean_data")
    assert shop.preserve("S03_plot_data")["valid"] is True
    manifest = shop.path("checkpoints/ckpt-S01_load_data.json")
    whole = manifest.read_bytes()
    for broken in (b"", whole.replace(b"S01_load_data", b"S02_load_data"), whole.replace(b'"saved"', b'"interrupted"')):
        manifest.write_bytes(broken)
        assert shop.preserve("S03_plot_data")["valid"] is False, broken
    manifest.unlink()
    assert shop.preserve("S03_plot_data")["valid"] is False
    manifest.write_bytes(whole)
    assert shop.preserve("S03_plot_data")["valid"] is True
    change(shop.path("S01_load_data/a"))
    assert shop.preserve("S03_plot_data")["valid"] is False


def test_outputs_alone_are_no_checkpoint(tmp_path: Path) -> None:
    acts = {name: stage(writes(["a"]), {"a": "a"}) for name in ("S01_load_data", "S02_clean_data")}
    shop = Workshop(tmp_path, acts, S02_clean_data=("S01_load_data",))
    outputs = shop.execute("S01_load_data")["outputs"]
    assert shop.publish("S01_load_data", outputs, checkpoint=False) == {"checkpoint": None}
    assert shop.preserve("S02_clean_data")["valid"] is False


def test_a_read_only_run_loses_nothing(tmp_path: Path) -> None:
    shop = shop_in(tmp_path)
    shop.complete("S01_load_data")
    before = snapshot(tmp_path)
    answer = shop.execute("S01_load_data", 2)
    folders = [Path(shop.run.path), shop.path(".attempts"), shop.path("checkpoints")]
    for folder in folders:
        folder.chmod(0o500)
    try:
        with ordinary_rights():
            told = shop.publish("S01_load_data", answer["outputs"], 2)
            again = shop.execute("S02_eda")
            left = shop.preserve("S02_eda")
    finally:
        for folder in folders:
            folder.chmod(0o700)
    assert "Permission denied" in str(told["error"])
    assert "Permission denied" in again["error"]
    assert left == {"checkpoint": None, "valid": True}
    assert snapshot(tmp_path) == before
    assert shop.publish("S01_load_data", answer["outputs"], 2) == {"checkpoint": "ckpt-S01_load_data"}


def test_a_project_in_which_nothing_may_be_written_is_a_failure(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with ordinary_rights(), pytest.raises(Failure, match="Permission denied"):
            shop_in(tmp_path)
    finally:
        tmp_path.chmod(0o700)


def test_the_success_of_a_stage_is_judged_by_what_it_left(tmp_path: Path) -> None:
    assert is_success(shop_in(tmp_path).execute("S01_load_data"))
