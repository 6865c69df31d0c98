"""A run ends, or its disk fails, at every single call of the system that writes to a journal; nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from campaigns import choose
from crash.flows import Undisturbed, undisturbed
from crash.lives import TOP, Driver, Life, finished, left

from stagec.runtime.drivers.local import read_journal

pytestmark = pytest.mark.needs("strace")
FLOW = "looking"
CALLS = ("pwrite64", "fdatasync", "fsync", "linkat", "unlinkat")
"""What is done to the file of a journal: the last three while it is begun."""
RESUMING = ("pwrite64", "fdatasync", "ftruncate")
"""What is done to it when it is resumed."""

STEP = choose(5, full=3, whole=1)
"""Of so many calls one is tried."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return undisturbed(FLOW, tmp_path_factory.mktemp("whole") / "one.run")


def life(path: Path, call: str, what: str) -> tuple[Life, str]:
    """Run the flow in a process to which something happens in a call; return what it said and what it complained of."""
    command = json.dumps({"flow": FLOW, "path": str(path), "stay": "", "at": -1})
    traced = ["strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={call}", "-e", f"inject={call}:{what}"]
    ended = subprocess.run(
        [*traced, sys.executable, "-m", "crash.driven"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(TOP / "compiler"), str(TOP / "tests")))},
        input=command,
        capture_output=True,
        text=True,
        check=False,
    )
    return Life([line.split() for line in ended.stdout.splitlines()]), ended.stderr


@pytest.mark.parametrize("call", CALLS)
def test_a_process_that_ends_in_any_call_loses_nothing(whole: Undisturbed, tmp_path: Path, call: str) -> None:
    driver = Driver()
    for number in count(1, STEP):
        path = tmp_path / f"{number}.run"
        lived, _ = life(path, call, f"signal=KILL:when={number}")
        left(FLOW, path, lived, whole)
        finished(FLOW, driver, path, whole)
        if lived.status == 0:
            break
    driver.close()
    assert number > 1


def interrupted(path: Path, driver: Driver, whole: Undisturbed) -> None:
    """Leave a run with two events, and behind them what is left of a commit that was interrupted."""
    driver.begin(FLOW, path, "asking", 1)
    assert any(line[:2] == ["asking", "1"] for line in driver.lines())
    driver.kill()
    assert [line[0] for line in driver.lines()] == ["over"]
    data = path.read_bytes()
    rest = data[len(data.rstrip(b"\0")) :]
    path.write_bytes(data.rstrip(b"\0") + b"torn" * 100 + rest[400:])
    assert len(read_journal(path).events) == 1 < len(whole.events)


@pytest.mark.parametrize("call", RESUMING)
@pytest.mark.parametrize("what", ["signal=KILL", "error=EIO", "error=ENOSPC"])
def test_a_run_is_resumed_wherever_resuming_it_ended(whole: Undisturbed, tmp_path: Path, call: str, what: str) -> None:
    with closing(Driver()) as driver:
        for number in count(1, STEP):
            path = tmp_path / f"{number}.run"
            interrupted(path, driver, whole)
            lived, _ = life(path, call, f"{what}:when={number}")
            finished(FLOW, driver, path, whole)
            if lived.moment == "ended":
                break
    assert number > 1


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
@pytest.mark.parametrize("call", ["pwrite64", "fdatasync"])
def test_a_disk_that_fails_in_any_call_loses_nothing(whole: Undisturbed, tmp_path: Path, call: str, error: str) -> None:
    driver = Driver()
    failed = 0
    for number in count(1, STEP):
        path = tmp_path / f"{number}.run"
        lived, complaint = life(path, call, f"error={error}:when={number}")
        failed += lived.status != 0
        assert ("JournalError" in complaint) is (lived.status != 0)
        finished(FLOW, driver, path, whole)
        if complaint == "" and number > len(whole.events) * 3:
            break
    driver.close()
    assert failed > len(whole.events) // STEP
