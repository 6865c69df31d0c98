"""The history of one run, in a SQLite file: every event once, in order, on the disk before anything follows from it.

The file is written by one process at a time: the lock is the process's own and ends with it. Each event carries a
digest of itself and of the one before, so that a file in which anything is other than it was written is noticed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from stagec.core.value import NOTHING
from stagec.core.words import quote
from stagec.drivers.local.events import key_of, written
from stagec.drivers.local.folder import made
from stagec.drivers.local.history import History, JournalError, Reason, chained, seed
from stagec.drivers.local.tables import SHAPE, begun, read_history, refuse_foreign
from stagec.runtime.event import Event

__all__ = ["History", "Journal", "JournalError", "Reason", "create", "open_journal", "read_journal"]

_PRAGMAS = (
    "page_size = 1024",  # an event is small, and whole pages are written
    "journal_mode = WAL",
    "synchronous = FULL",
    "fullfsync = ON",
    "trusted_schema = OFF",
)
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}


class Journal:
    """An open journal, to which this process alone appends."""

    def __init__(self, connection: sqlite3.Connection, history: History, last: str) -> None:
        self._connection = connection
        self._count = len(history.events)
        self._last = last
        self.history = history

    @property
    def count(self) -> int:
        """How many events it holds, and the number of the next."""
        return self._count

    def append(self, event: Event, mark: str = "", body: str | None = None) -> None:
        """Write an event, and the mark of what followed from it; it is on the disk when this returns.

        `body` is the event as JSON, where somebody has it already. An event of a known key, and one that is no JSON,
        is a `JournalError`.
        """
        key = key_of(event)
        try:
            body = written(event) if body is None else body
            chain = chained(self._last, self._count, (key, body, mark))
            self._connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", (self._count, key, body, mark, chain))
        except (sqlite3.Error, TypeError, ValueError) as error:
            raise JournalError(Reason.UNUSABLE, f"an event cannot be written: {error}") from error
        self._count, self._last = self._count + 1, chain

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def create(path: Path, plan: bytes, digest: str, facts: Mapping[str, str] = NOTHING) -> Journal:
    """Begin the journal of a run of a plan; one that holds any event already is a `JournalError`.

    `facts` are kept beside the plan for whoever goes on with the run.
    """
    try:
        made(path.parent)
    except OSError as error:
        raise JournalError(Reason.UNUSABLE, f"cannot make {quote(path.parent)}: {error.strerror}") from error
    known: dict[str, str | bytes] = {**facts, "plan": plan, "digest": digest}
    with _opened(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        if begun(connection):
            raise JournalError(Reason.TAKEN, "there is a run of this name already")
        for statement in SHAPE:
            connection.execute(statement)
        connection.executemany("INSERT INTO facts VALUES (?, ?)", known.items())
        connection.execute("COMMIT")
    return Journal(connection, History(plan, digest, facts=facts), seed(known))


def open_journal(path: Path) -> Journal:
    """Open a journal to append to it; raise `JournalError` when another process has it, or it is damaged."""
    if not path.exists():
        raise JournalError(Reason.MISSING, "there is no such run")
    with _opened(path) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("COMMIT")  # the lock stays
        history, last = read_history(connection)
    return Journal(connection, history, last)


def read_journal(path: Path) -> History:
    """Return what a journal holds, without the right to append."""
    with closing(open_journal(path)) as journal:
        return journal.history


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Connect to a file; it stays open unless something goes wrong, and that is told as a `JournalError`."""
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE)
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        refuse_foreign(connection)
        for pragma in _PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        yield connection
    except BaseException as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.Error | UnicodeDecodeError):  # the latter for a text that is no text any more
            raise _told(error) from error
        raise


_PATIENCE = 0.5
"""Seconds to wait for a lock: whoever only reads a journal has it for a moment, whoever runs it for long."""


def _told(error: Exception) -> JournalError:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _BUSY:
        return JournalError(Reason.BUSY, "another process is running it")
    if code in _DAMAGED:
        return JournalError(Reason.DAMAGED, f"its journal is damaged: {error}")
    return JournalError(Reason.UNUSABLE, f"its journal cannot be used: {error}")
