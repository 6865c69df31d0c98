"""Folders are entered, made, moved and removed without following a link, and however deep they are."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from rights import ordinary_rights

from stagec.core.disk import OpenedFolder, RefusedWriteError, open_folder
from stagec.core.folders import (
    FileDigest,
    digest_file,
    enter_folder,
    make_below,
    make_fresh,
    move,
    open_file,
    remove_file,
    remove_tree,
)


@pytest.fixture
def top(tmp_path: Path) -> Iterator[OpenedFolder]:
    (tmp_path / "top").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_bytes(b"precious")
    with open_folder(tmp_path / "top") as opened:
        yield opened


def outside_is_whole(top: OpenedFolder) -> bool:
    folder = Path(top.path).parent / "outside"
    return [each.name for each in folder.iterdir()] == ["file"] and (folder / "file").read_bytes() == b"precious"


def test_folders_are_made_for_nobody_but_the_user(top: OpenedFolder) -> None:
    before = os.umask(0)
    try:
        make_below(top, "a/b/c")
    finally:
        os.umask(before)
    for path in ("a", "a/b", "a/b/c"):
        assert stat.S_IMODE(os.stat(Path(top.path) / path).st_mode) == 0o700
    make_below(top, "a/b")


@pytest.mark.parametrize("level", range(3))
@pytest.mark.parametrize("to", ["../outside", "nowhere", "."])
def test_a_link_at_any_level_is_refused(top: OpenedFolder, level: int, to: str) -> None:
    parts = ["a", "b", "c"]
    make_below(top, "/".join(parts[:level]))
    (Path(top.path) / "/".join(parts[: level + 1])).symlink_to(to)
    with pytest.raises(RefusedWriteError, match="is a link"):
        make_below(top, "a/b/c/d")
    with pytest.raises(RefusedWriteError, match="is a link"), enter_folder(top, "a/b/c"):
        pass
    assert outside_is_whole(top)


@pytest.mark.parametrize("path", ["../outside", "a/../../outside", "/etc", "./a", "a/.."])
def test_a_path_that_does_not_lead_straight_down_is_refused(top: OpenedFolder, path: str) -> None:
    make_below(top, "a")
    with pytest.raises(RefusedWriteError, match="straight down"):
        make_below(top, path)
    with pytest.raises(RefusedWriteError, match="straight down"):
        open_file(top, path)


def test_a_file_in_the_place_of_a_folder_is_an_error(top: OpenedFolder) -> None:
    (Path(top.path) / "a").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        make_below(top, "a/b")


def test_a_file_is_opened_through_no_link(top: OpenedFolder) -> None:
    make_below(top, "a/b")
    path = Path(top.path) / "a" / "b" / "file"
    path.write_bytes(b"x" * 100_000)
    assert digest_file(open_file(top, "a/b/file")) == FileDigest(hashlib.sha256(b"x" * 100_000).hexdigest(), 100_000)
    assert digest_file(open_file(top, "a//b/file"), sync=True).size == 100_000
    path.rename(path.with_name("other"))
    path.symlink_to("other")
    with pytest.raises(RefusedWriteError, match="it is a link"):
        open_file(top, "a/b/file")
    (Path(top.path) / "a" / "b").rename(Path(top.path) / "real")
    (Path(top.path) / "a" / "b").symlink_to("../real")
    with pytest.raises(RefusedWriteError, match="is a link"):
        open_file(top, "a/b/other")


def test_what_is_no_file_is_not_opened_nor_waited_for(top: OpenedFolder) -> None:
    make_below(top, "folder")
    os.mkfifo(Path(top.path) / "pipe")
    for name in ("folder", "pipe", ""):
        with pytest.raises(OSError, match=r"not a regular file|Is a directory|No such file"):
            open_file(top, name)
    with pytest.raises(FileNotFoundError):
        open_file(top, "nothing/at/all")


def test_files_of_another_root_are_not_touched_by_removing_links_to_them(top: OpenedFolder) -> None:
    make_below(top, "a/b")
    for path in ("a/link", "a/b/link"):
        (Path(top.path) / path).symlink_to(Path(top.path).parent / "outside")
    (Path(top.path) / "link").symlink_to("../outside")
    for name in ("a", "link", "nothing"):
        remove_tree(top, name)
    assert os.listdir(top.path) == []
    assert outside_is_whole(top)


def test_a_tree_that_is_very_deep_or_wide_or_closed_is_removed(top: OpenedFolder) -> None:
    path = Path(top.path) / "tree"
    path.mkdir()
    here = os.getcwd()
    try:
        os.chdir(path)
        for _ in range(3_000):  # deeper than a path may be long
            os.mkdir("below")
            os.chdir("below")
    finally:
        os.chdir(here)
    for number in range(1_000):
        (path / str(number)).write_bytes(b"")
    (path / "closed" / "in").mkdir(parents=True)
    (path / "closed" / "in").chmod(0)
    (path / "closed").chmod(0)
    path.chmod(0)
    with ordinary_rights():
        remove_tree(top, "tree")
    assert os.listdir(top.path) == []


def test_a_fresh_folder_takes_the_place_of_what_was_there(top: OpenedFolder) -> None:
    for _ in range(2):
        make_fresh(top, "new")
        assert os.listdir(Path(top.path) / "new") == []
        (Path(top.path) / "new" / "file").write_bytes(b"")


def test_what_is_moved_is_whole_and_replaces_nothing_that_holds_something(top: OpenedFolder) -> None:
    make_below(top, "a/full")
    make_below(top, "b/full")
    for folder in ("a", "b"):
        (Path(top.path) / folder / "full" / "file").write_text(folder, encoding="utf-8")
    with enter_folder(top, "a") as source, enter_folder(top, "b") as target:
        with pytest.raises(OSError, match="not empty"):
            move("full", source, target, "full")
        move("full", source, target, "new")
    assert (Path(top.path) / "b" / "new" / "file").read_text(encoding="utf-8") == "a"
    assert not (Path(top.path) / "a" / "full").exists()


def test_a_file_that_is_gone_is_removed(top: OpenedFolder) -> None:
    (Path(top.path) / "file").write_bytes(b"")
    for _ in range(2):
        remove_file(top, "file")
    assert os.listdir(top.path) == []
