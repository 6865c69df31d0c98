"""Threads that answer requests: a thread that has finished is reused for the next request, of any run."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Event as Flag
from threading import Lock, Thread

_RESTING = 16
"""Threads that wait for more to do; others end when they have nothing to do."""


class BackgroundTask:
    """Something that is done in another thread."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._is_over = Flag()

    def do(self) -> None:
        """Do it."""
        try:
            self._work()
        finally:
            self._is_over.set()

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._is_over.is_set()

    def wait(self, seconds: float) -> None:
        """Wait until it is over, so many seconds at most."""
        self._is_over.wait(seconds)


class Threads:
    """Daemon threads, one for each task that runs at the same time; idle threads are reused."""

    def __init__(self) -> None:
        self._resting: list[SimpleQueue[BackgroundTask]] = []
        self._lock = Lock()

    def begin(self, work: Callable[[], object]) -> BackgroundTask:
        """Begin to do something, which must not raise anything."""
        task = BackgroundTask(work)
        with self._lock:
            rested = self._resting.pop() if self._resting else None
        if rested is None:
            Thread(target=self._keep_doing, args=(task,), daemon=True).start()
        else:
            rested.put(task)
        return task

    def _keep_doing(self, task: BackgroundTask) -> None:
        given: SimpleQueue[BackgroundTask] = SimpleQueue()
        while True:
            task.do()
            with self._lock:
                if len(self._resting) >= _RESTING:
                    return
                self._resting.append(given)
            task = given.get()


THREADS = Threads()
"""Those of this process."""


def begin_thread(work: Callable[[], object]) -> BackgroundTask:
    """Begin to do something in a new thread.

    `Thread.start` waits until the thread runs. So tasks that end at once mostly end in the order in which they begin.
    """
    task = BackgroundTask(work)
    Thread(target=task.do, daemon=True).start()
    return task
