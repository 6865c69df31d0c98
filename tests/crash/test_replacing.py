"""A file that is replaced is the old one or the new one, whole, wherever the process ends and whatever fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
OLD, NEW = b"old " * 5_000, b"new, longer " * 5_000
CALLS = ("open", "fsync", "fchmod", "replace", "close", "unlink")
"""The functions of `os` that are called besides writing, each of which can be the one that ends the process."""
PROGRAM = f"""
import os, resource, signal, sys
from pathlib import Path
from stagec.cli.files import write_file
from stagec.core.failure import Failure

path, how, last, size = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
calls = 0

def counted(name, real):
    def call(*given, **named):
        global calls
        calls += 1
        if calls == last + 1 and how == "crash":
            os._exit(9)
        if calls == last + 1:
            raise OSError(5, "it failed")
        print(name, flush=True)
        return real(*given, **named)
    return call

for name in {CALLS!r}:
    setattr(os, name, counted(name, getattr(os, name)))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
if size >= 0:
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL if how == "crash" else signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    write_file(path, {NEW!r})
except Failure:
    sys.exit(1)
"""
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the limits are those of POSIX")


def replaced(path: Path, how: str, last: int = 1_000, size: int = -1) -> tuple[int, list[str]]:
    """Replace a file in a process that fails or ends after so many calls, or at so many bytes; return what it did."""
    path.write_bytes(OLD)
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), how, str(last), str(size)],
        env={"PYTHONPATH": str(TOP / "compiler")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stderr == ""
    return ended.returncode, ended.stdout.split()


def test_the_bytes_are_on_the_disk_before_the_name_and_the_name_before_it_returns(tmp_path: Path) -> None:
    status, calls = replaced(tmp_path / "x", "crash")
    assert (status, calls) == (0, ["open", "open", "fchmod", "fsync", "replace", "fsync", "close"])
    assert ((tmp_path / "x").read_bytes(), len(list(tmp_path.iterdir()))) == (NEW, 1)


@pytest.mark.parametrize("last", range(7))
def test_a_crash_at_any_call_leaves_one_of_the_two_files_whole(tmp_path: Path, last: int) -> None:
    status, calls = replaced(tmp_path / "x", "crash", last)
    assert (status, len(calls)) == (9, last)
    assert (tmp_path / "x").read_bytes() == (NEW if "replace" in calls else OLD)


@pytest.mark.parametrize("last", range(5))
def test_a_call_that_fails_before_the_file_is_replaced_leaves_the_old_one_alone(tmp_path: Path, last: int) -> None:
    status, _ = replaced(tmp_path / "x", "failure", last)
    assert (status, (tmp_path / "x").read_bytes(), len(list(tmp_path.iterdir()))) == (1, OLD, 1)


@pytest.mark.parametrize("size", [0, 1, 4_096, 10_001, len(NEW) - 1])
def test_a_crash_or_a_full_disk_in_the_middle_of_writing_leaves_the_old_file(tmp_path: Path, size: int) -> None:
    assert replaced(tmp_path / "x", "failure", size=size)[0] == 1
    assert ((tmp_path / "x").read_bytes(), len(list(tmp_path.iterdir()))) == (OLD, 1)
    assert replaced(tmp_path / "x", "crash", size=size)[0] < 0
    assert (tmp_path / "x").read_bytes() == OLD
