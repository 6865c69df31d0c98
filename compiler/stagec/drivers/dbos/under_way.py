"""What a worker executes now, as several of its threads see it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class UnderWay(Generic[T]):
    """A list of what is executed now; may be used in several threads.

    An entry may be there twice: a worker that seemed dead may take a segment again while it still executes it.
    """

    def __init__(self) -> None:
        self._entries = list[T]()
        self._lock = Lock()

    def list_all(self) -> list[T]:
        """Return all entries."""
        with self._lock:
            return list(self._entries)

    @contextmanager
    def hold(self, entry: T) -> Iterator[None]:
        """Have an entry in the list while the body executes it."""
        with self._lock:
            self._entries.append(entry)
        try:
            yield
        finally:
            with self._lock:
                self._entries.remove(entry)
