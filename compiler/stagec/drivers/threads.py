"""Threads in which requests are answered: one that is done takes the next request, of whatever run."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from threading import Event as Flag
from threading import Lock, Thread

_RESTING = 16
"""Threads that wait for more to do; others end when they have nothing to do."""


class Task:
    """Something that is done in another thread."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._is_over = Flag()

    def do(self) -> None:
        """Do it."""
        try:
            self._work()
        finally:
            self._is_over.set()

    def wait(self, seconds: float) -> None:
        """Wait until it is over, so many seconds at most."""
        self._is_over.wait(seconds)


class Threads:
    """As many threads as there are tasks at the same time; none of them keeps a process from ending."""

    def __init__(self) -> None:
        self._resting: list[SimpleQueue[Task]] = []
        self._lock = Lock()

    def begin(self, work: Callable[[], None]) -> Task:
        """Begin to do something, which must not raise anything."""
        task = Task(work)
        with self._lock:
            rested = self._resting.pop() if self._resting else None
        if rested is None:
            Thread(target=self._keep_doing, args=(task,), daemon=True).start()
        else:
            rested.put(task)
        return task

    def _keep_doing(self, task: Task) -> None:
        given: SimpleQueue[Task] = SimpleQueue()
        while True:
            task.do()
            with self._lock:
                if len(self._resting) >= _RESTING:
                    return
                self._resting.append(given)
            task = given.get()


THREADS = Threads()
"""Those of this process."""


def begin_thread(work: Callable[[], None]) -> Task:
    """Begin to do something in a thread of its own.

    Where several things are begun, the first has had a moment before the next one begins: what ends at once mostly ends
    in this order.
    """
    task = Task(work)
    Thread(target=task.do, daemon=True).start()
    return task
