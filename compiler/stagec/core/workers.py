"""Work on many items, in several processes once that pays off; the results come in the order of the items."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Lock, Thread
from typing import IO, Any, Generic, Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_ALONE = 0.3
"""Seconds for which one process works before others are started; a start takes about as long."""
_SLICES = 8
"""Into how many parts the work of a process is divided, so that all of them end at about the same time."""
_LENGTH = 8
"""Bytes that say how long the frame is that follows."""


class Workers(Generic[T, R]):
    """Works on items with what `make` returns for `given`; `make` is a function of a module, and both can be pickled.

    `jobs` is the most processes. This one works `alone` for so many seconds, and to the end where what is left will
    not take twice as long. Nothing is running any more when `work` is left, however it is left.
    """

    def __init__(
        self, make: Callable[[Any], Callable[[T], R]], given: object, jobs: int, alone: float = _ALONE
    ) -> None:
        self._make, self._given, self._jobs, self._alone = make, given, jobs, alone

    def work(self, items: Sequence[T]) -> Iterator[R]:
        """Yield the result of each item."""
        do, begun = self._make(self._given), time.monotonic()
        for done, each in enumerate(items):
            spent = time.monotonic() - begun
            left = len(items) - done
            if self._jobs > 1 and left > 1 and done and spent > self._alone and spent / done * left > 2 * self._alone:
                with _Crew(pickle.dumps((self._make, self._given)), items[done:], min(self._jobs, left)) as crew:
                    yield from crew.list_results()
                return
            yield do(each)


class _Crew:
    """Processes that work on parts of a list; each has a thread here that hands it the next part."""

    def __init__(self, start: bytes, items: Sequence[Any], jobs: int) -> None:
        self._start, self._items, self._jobs = start, items, jobs
        size = max(1, len(items) // (jobs * _SLICES))
        starts = range(0, len(items), size)
        self._parts = iter([(each, pickle.dumps(items[each : each + size])) for each in starts])
        self._lock = Lock()
        self._told: SimpleQueue[tuple[int, list[Any] | Exception]] = SimpleQueue()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._guides: list[Thread] = []

    def __enter__(self) -> Self:
        try:
            self._begin()
        except BaseException:  # Ctrl-C, for one: those that have begun must not go on alone
            self.__exit__()
            raise
        return self

    def _begin(self) -> None:
        code = f"from {__name__} import {_serve.__name__}; {_serve.__name__}()"
        words, pipe = (sys.executable, "-P", "-c", code), subprocess.PIPE
        for _ in range(self._jobs):
            # a session of its own: Ctrl-C in a terminal reaches this process alone, which then ends the others
            process = subprocess.Popen(words, stdin=pipe, stdout=pipe, start_new_session=True)
            self._processes.append(process)
            pipes = [each for each in (process.stdin, process.stdout) if each is not None]
            guide = Thread(target=self._guide, args=pipes, daemon=True)
            guide.start()
            self._guides.append(guide)

    def __exit__(self, *_error: object) -> None:
        for each in self._processes:
            each.kill()
        for each, guide in zip(self._processes, self._guides, strict=False):
            guide.join()
            with suppress(OSError), each:  # what was not sent yet cannot be sent any more
                each.wait()

    def list_results(self) -> Iterator[Any]:
        """Yield the result of each item, in their order."""
        arrived: dict[int, list[Any]] = {}
        due = 0
        while due < len(self._items):
            while due not in arrived:
                start, found = self._told.get()
                if isinstance(found, Exception):
                    raise found
                arrived[start] = found
            results = arrived.pop(due)
            yield from results
            due += len(results)

    def _guide(self, told: IO[bytes], heard: IO[bytes]) -> None:
        """Hand a process one part after the other, and pass on what comes of each."""
        try:
            _put(told, self._start)
            while (part := self._next_part()) is not None:
                _put(told, part[1])
                self._told.put((part[0], _get(heard)))
            told.close()
        except (OSError, EOFError) as error:  # whoever waits for results raises it
            self._told.put((0, error))

    def _next_part(self) -> tuple[int, bytes] | None:
        with self._lock:
            return next(self._parts, None)


def _put(pipe: IO[bytes], frame: bytes) -> None:
    pipe.write(len(frame).to_bytes(_LENGTH, "big") + frame)
    pipe.flush()


def _get(pipe: IO[bytes]) -> Any:
    """Return the next message; raise `EOFError` for a process that has ended."""
    length = pipe.read(_LENGTH)
    if len(length) < _LENGTH:
        raise EOFError("a process that was to help has ended")
    return pickle.loads(pipe.read(int.from_bytes(length, "big")))


def _serve() -> None:
    """Work on what comes through standard input until there is no more of it."""
    told, heard = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing that is printed gets between the results
    with suppress(EOFError, BrokenPipeError):
        make, given = _get(told)
        do = make(given)
        while True:
            _put(heard, pickle.dumps([do(each) for each in _get(told)]))
