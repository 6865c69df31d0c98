"""Turns: only a few threads of a worker compute or ask the database at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from time import perf_counter

import sqlalchemy as sa

from stagec.drivers.dbos.database import Database

FEWEST, _MOST = 3, 16
_TRIPS, _COMPUTING = 8, 0.003
"""How often an event asks the database, and for how many seconds it computes."""
_TRIES = 5


class Turns:
    """Limits how many threads compete for the global interpreter lock (GIL) of Python.

    Sixteen threads that compete for it execute half as many events as two threads do. A thread that waits for a model
    or a tool gives its turn back while it waits.
    """

    def __init__(self) -> None:
        self._free: SimpleQueue[None] = SimpleQueue()
        self.allow(FEWEST)

    def allow(self, more: int) -> None:
        """Let more threads have a turn at the same time."""
        for _ in range(more):
            self._free.put(None)

    @contextmanager
    def take(self) -> Iterator[None]:
        """Do the body in a turn."""
        self._free.get()
        try:
            yield
        finally:
            self._free.put(None)

    @contextmanager
    def give_back(self) -> Iterator[None]:
        """Do the body, which waits for somebody, while another thread has the turn."""
        self._free.put(None)
        try:
            yield
        finally:
            self._free.get()


def choose_turns(database: Database) -> int:
    """Return how many turns there should be: while some threads wait for a distant database, others can compute."""
    with database.ask_once() as connection:
        times = []
        for _ in range(_TRIES):
            begun = perf_counter()
            connection.execute(sa.text("SELECT 1")).all()
            times.append(perf_counter() - begun)
    return min(_MOST, FEWEST + round(_TRIPS * min(times) / _COMPUTING))
