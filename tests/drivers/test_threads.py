"""Threads that answer requests: as many as run at the same time, and reused when they are idle."""

from __future__ import annotations

from functools import partial
from threading import Barrier, active_count, get_ident
from threading import Event as Flag
from time import sleep

from in_databases import wait_for

from stagec.runtime.drivers.requests import Threads, begin_thread


def test_an_idle_thread_is_reused() -> None:
    threads, seen = Threads(), list[int]()
    for _ in range(20):
        threads.begin(lambda: seen.append(get_ident())).wait(10)
        sleep(0.01)  # it is over a moment before its thread is idle
    assert len(seen) == 20
    assert len(set(seen)) < 5


def test_tasks_that_run_together_have_a_thread_each() -> None:
    threads, together, before = Threads(), Barrier(31), active_count()
    tasks = [threads.begin(partial(together.wait, 20)) for _ in range(30)]
    together.wait(20)
    for each in tasks:
        each.wait(10)
    wait_for(lambda: active_count() - before <= 16)


def test_waiting_for_a_task_has_an_end() -> None:
    for begin in (Threads().begin, begin_thread):
        over = Flag()
        task = begin(partial(over.wait, 20))
        task.wait(0.01)
        assert not task.is_over
        over.set()
        task.wait(20)
        assert task.is_over
