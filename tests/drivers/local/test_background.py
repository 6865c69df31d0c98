"""Work in the background is done once, in order, and what is wrong with it is seen where it is waited for."""

from __future__ import annotations

import sys
from threading import Thread, current_thread, main_thread

import pytest

from stagec.runtime.drivers.local.drive import open_background, run_at_once


def failing() -> int:
    raise LookupError


def test_work_is_done_in_another_thread() -> None:
    with open_background() as begin:
        first, second = begin(current_thread), begin(lambda: 2)
        assert (first() is main_thread(), second()) == (False, 2)


def test_what_the_work_raises_is_raised_where_it_is_waited_for() -> None:
    with open_background() as begin:
        result = begin(failing)
        with pytest.raises(LookupError):
            result()
        assert begin(lambda: 1)() == 1


def test_work_that_would_end_the_process_is_no_exception_to_that() -> None:
    with open_background() as begin:
        result = begin(lambda: sys.exit(3))
        with pytest.raises(SystemExit):
            result()
        assert begin(lambda: 1)() == 1


def test_no_thread_is_left_behind_by_whoever_is_interrupted() -> None:
    threads: list[Thread] = []

    def interrupted() -> None:
        with open_background() as begin:
            begin(lambda: threads.append(current_thread()))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [thread.is_alive() for thread in threads] == [False]


def test_work_that_nobody_waits_for_is_forgotten() -> None:
    with open_background() as begin:
        begin(failing)
        begin(lambda: 1)


def test_work_at_once_is_done_here() -> None:
    done: list[int] = []
    result = run_at_once(lambda: done.append(1))
    assert done == [1]
    assert (result(), done) == (None, [1])
