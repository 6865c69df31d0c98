"""Projects that change while they are read: no change is a crash, and nothing out of the project is read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import pytest
from campaigns import choose

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.sources.project.settings import Settings

EXAMPLE = Path(__file__).parents[2] / "registries" / "code-review"
OUTSIDE = b"SECRET-OUTSIDE"
Change = Callable[[Path, Path], None]
"""Changes a file or a folder of a project and changes it back; the other path is its copy out of the project."""


def cut(file: Path, _copy: Path) -> None:
    data = file.read_bytes()
    os.truncate(file, len(data) // 2)
    os.truncate(file, 0)
    file.write_bytes(data)


def grow(file: Path, _copy: Path) -> None:
    data = file.read_bytes()
    with file.open("ab") as more:
        more.write(data * 50)
    file.write_bytes(data)


def replace(file: Path, _copy: Path) -> None:
    data, other = file.read_bytes(), file.with_name(".other")
    other.write_bytes(data[::-1])
    other.replace(file)
    file.write_bytes(data)


def become_others(file: Path, copy: Path) -> None:
    data = file.read_bytes()
    file.unlink()
    file.symlink_to(copy)
    file.unlink()
    os.mkfifo(file)
    file.unlink()
    file.mkdir()
    file.rmdir()
    file.write_bytes(data)


def become_a_link(folder: Path, copy: Path) -> None:
    away = folder.with_name(".away")
    folder.rename(away)
    folder.symlink_to(copy)
    folder.unlink()
    away.rename(folder)


@contextmanager
def changing(root: Path, outside: Path, change: Change) -> Iterator[None]:
    """Change one file or folder after the other, again and again."""
    over = Event()
    is_meant = Path.is_dir if change is become_a_link else Path.is_file
    meant = [each for each in root.rglob("*") if is_meant(each)]

    def work() -> None:
        while not over.is_set():
            for each in meant:
                with suppress(OSError):
                    change(each, outside / each.relative_to(root))

    thread = Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without pipes in folders")
@pytest.mark.parametrize("change", [cut, grow, replace, become_others, become_a_link], ids=lambda each: each.__name__)
def test_what_changes_while_it_is_read(change: Change, tmp_path: Path) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    shutil.copytree(EXAMPLE, root)
    shutil.copytree(EXAMPLE, outside)
    for each in filter(Path.is_file, outside.rglob("*")):
        each.write_bytes(OUTSIDE + each.read_bytes())
    with changing(root, outside, change):
        found = [compile_project(Project(root, (root,), Settings())) for _ in range(choose(8, whole=100))]
    assert not any(OUTSIDE in tree.data for each in found for tree in each.trees.values()) or not _tells_places()
    assert _list_codes(compile_project(Project(root, (root,), Settings()))) == set()


def _tells_places() -> bool:
    """Tell whether the system says where an opened file lies."""
    return Path("/proc/self/fd").exists()


def _list_codes(found: Compilation) -> set[str]:
    return {each.code for each in found.diagnostics if str(each.severity) == "error"}
