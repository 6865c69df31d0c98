"""Files are read as they are, and written whole or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from stagec.cli.files import read_file, write_file
from stagec.core.failure import Failure


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(0o604)
    write_file(path, b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o604)


def test_a_link_keeps_leading_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")
    (tmp_path / "link").symlink_to("x")
    write_file(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "x").read_bytes() == b"new"


def test_a_folder_that_is_not_there_is_the_world_s_fault(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"cannot write .*: No such file or directory"):
        write_file(tmp_path / "nowhere" / "x", b"new")


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a\r\n\xff")
    assert read_file(tmp_path / "x") == b"a\r\n\xff"


def test_what_cannot_be_read_is_the_world_s_fault(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="nowhere' does not exist"):
        read_file(tmp_path / "nowhere")
    with pytest.raises(Failure, match="is a folder, and a file is expected"):
        read_file(tmp_path)
