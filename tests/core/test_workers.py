"""Work in several processes gives the same results in the same order, and leaves no process behind."""

from __future__ import annotations

import operator
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stagec.core.workers import Workers


def test_results_come_in_the_order_of_the_items() -> None:
    """Whatever the number of processes and of items."""
    for jobs in (1, 2, 3):
        for count in (0, 1, 2, 50):
            workers: Workers[int, int] = Workers(partial(partial, pow), 2, jobs, alone=0)
            assert [*workers.work(range(count))] == [2**each for each in range(count)]


def test_little_work_starts_no_process() -> None:
    """The items do not even have to be fit for another process."""
    workers: Workers[Any, Any] = Workers(lambda given: given, lambda item: item, 8)
    assert [*workers.work([object])] == [object]


def test_an_error_in_another_process_ends_the_work(capfd: pytest.CaptureFixture[str]) -> None:
    workers: Workers[Any, Any] = Workers(operator.itemgetter, 0, 2, alone=0)
    with pytest.raises((EOFError, OSError)):
        list(workers.work([[1], [2], [], [3]]))
    assert "IndexError" in capfd.readouterr().err


_SLEEPERS = """
import functools, sys, time
from stagec.core.workers import Workers
print("ready", flush=True)
for _ in Workers(functools.partial, time.sleep, 2, alone=0).work([0.01, 60, 60]):
    print("one", flush=True)
"""


def _children(process: int) -> list[int]:
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [int(each) for thread in threads for each in thread.read_text("ascii").split()]


@pytest.mark.skipif(not Path("/proc").exists(), reason="asks Linux which processes there are")
@pytest.mark.parametrize("signal", ["SIGINT", "SIGKILL"])
def test_no_process_is_left_behind(signal: str) -> None:
    """Not even by one that is killed, but for the part that is under way."""
    import signal as signals

    sleepers = _SLEEPERS.replace("60", "2") if signal == "SIGKILL" else _SLEEPERS
    with subprocess.Popen([sys.executable, "-c", sleepers], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as main:
        assert main.stdout is not None
        assert [main.stdout.readline(), main.stdout.readline()] == [b"ready\n", b"one\n"]
        end = time.monotonic() + 20
        while len(helpers := _children(main.pid)) < 2:
            assert time.monotonic() < end
        main.send_signal(getattr(signals, signal))
        main.wait(20)
    while any(Path(f"/proc/{each}").exists() for each in helpers):
        assert time.monotonic() < end
