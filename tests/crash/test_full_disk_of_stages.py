"""A run of stages on a disk that becomes full fails cleanly, and goes on to the same result when there is room."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import nursery
import pytest
from campaigns import sample
from crash.test_crashes_of_stages import (
    ONCE,
    count_runs,
    find_torn,
    list_vouched,
    make,
    proceed,
    published,
    stagec,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="small disks are mounted as on Linux")
SIZES = range(84, 128, 4)
"""KiB: from one on which no journal has room to one on which the whole run has."""


@contextmanager
def small_disk(path: Path, size: int) -> Iterator[None]:
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", path]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk needs the right to mount it")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def begin(folder: Path, whole: Mapping[str, str]) -> bool:
    """Begin a run on a disk that may be full; tell whether it came to its end."""
    ended = nursery.run(("run", "frozen.json", "--run", "run-001"), folder, nursery.environment())
    assert ended.returncode in {0, 1, 2}, ended.stderr
    assert ended.returncode == 0 or b"No space left on device" in ended.stdout + ended.stderr
    assert find_torn(folder, whole) == set()
    return ended.returncode == 0


@pytest.mark.needs("mount", "umount")
def test_a_run_on_a_full_disk_goes_on_when_there_is_room(tmp_path: Path) -> None:
    template = make(tmp_path / "template")
    undisturbed = shutil.copytree(template, tmp_path / "whole")
    stagec(undisturbed, "run", "frozen.json", "--run", "run-001")
    whole, ended = published(undisturbed), set[bool]()
    for size in sample(SIZES, 4, full=4):
        folder = tmp_path / str(size)
        with small_disk(folder, size):
            shutil.copytree(template, folder, dirs_exist_ok=True)
            ended.add(begin(folder, whole))
            kept, before = list_vouched(folder), count_runs(folder)
            subprocess.run(["mount", "-o", "remount,size=4m", folder], check=True)
            status = proceed(folder)
            if status == 1:  # it has begun what may not begin again
                status = proceed(folder, "--consent", ONCE)
            assert (status, published(folder)) == (0, whole)
            assert set(count_runs(folder) - before) & kept == set()
            assert [each.name for each in folder.rglob("*.tmp")] == []
    assert ended == {False, True}
