"""A background thread: it computes what follows from an event while the event is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, Protocol, TypeVar

T = TypeVar("T")
Todo = SimpleQueue[tuple[Callable[[], Any], SimpleQueue[tuple[Any, ...]]] | None]


class Begin(Protocol):
    """Begins some work, which may be done more than once."""

    def __call__(self, work: Callable[[], T], /) -> Callable[[], T]:
        """Return what waits for the result of some work, and returns it or raises what the work raises."""


def run_at_once(work: Callable[[], T], /) -> Callable[[], T]:
    """Do some work here and now."""
    found = work()
    return lambda: found


@contextmanager
def open_background() -> Iterator[Begin]:
    """Do work in a thread of its own, one thing after the other; the thread has ended when this is left.

    What nobody waits for is forgotten.
    """
    todo: Todo = SimpleQueue()

    def begin(work: Callable[[], T], /) -> Callable[[], T]:
        over: SimpleQueue[tuple[T, ...]] = SimpleQueue()
        todo.put((work, over))

        def result() -> T:
            found = over.get()
            return found[0] if found else work()

        return result

    thread = Thread(target=_work_off, args=(todo,), daemon=True)
    try:
        thread.start()
        yield begin
    finally:
        todo.put(None)
        if thread.is_alive():  # it may not have begun
            thread.join()


def _work_off(todo: Todo) -> None:
    while (task := todo.get()) is not None:
        work, over = task
        found: tuple[Any, ...] = ()
        with suppress(BaseException):  # whoever waits for it does it once more, and sees what is wrong
            found = (work(),)
        over.put(found)
