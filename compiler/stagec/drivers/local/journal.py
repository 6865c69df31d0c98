"""The history of one run, in a SQLite file: every event once, in order, on the disk before anything follows from it.

The file is written by one process at a time: the lock is the process's own and ends with it. Each event carries a
digest of itself and of the one before, so that a file in which anything is other than it was written is noticed.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from stagec.core.value import NOTHING
from stagec.core.words import quote
from stagec.drivers.local.events import key_of, written
from stagec.drivers.local.folder import made
from stagec.drivers.local.history import History, JournalError, Reason, chained, seed
from stagec.drivers.local.tables import SEAL, SHAPE, begun, read_history, refuse_foreign
from stagec.runtime.exchange import Event

__all__ = ["History", "Journal", "JournalError", "Reason", "create", "open_journal", "read_journal"]

_PRAGMAS = (
    "page_size = 1024",  # an event is small, and whole pages are written
    "journal_mode = WAL",
    "synchronous = FULL",
    "wal_autocheckpoint = 500",  # pages, for which there is room in the log from the beginning on
    "fullfsync = ON",
    "trusted_schema = OFF",
)
_ROOM = 512 * 1024
"""Bytes of the log that are there before anything has happened."""
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}


class Journal:
    """An open journal, to which this process alone appends."""

    def __init__(self, connection: sqlite3.Connection, history: History, last: str) -> None:
        self._connection = connection
        self._count = len(history.events)
        self._last = last
        self._mark = ""
        self._keys = {key_of(event) for event in history.events}
        self.history = history
        self.waits = True

    @property
    def count(self) -> int:
        """How many events it holds, and the number of the next."""
        return self._count

    def append(self, event: Event, body: str | None = None) -> None:
        """Write an event, and with it the mark of the one before; it is on the disk when this returns.

        `body` is the event as JSON, where somebody has it already. An event of a known key, and one that is no JSON,
        is a `JournalError`.
        """
        key = key_of(event)
        if key in self._keys:
            raise JournalError(Reason.UNUSABLE, f"an event cannot be written: {quote(key)} is there already")
        try:
            self._write(key, written(event) if body is None else body)
        except (TypeError, ValueError) as error:
            raise JournalError(Reason.UNUSABLE, f"an event cannot be written: {error}") from error
        self._keys.add(key)
        self._count += 1

    def mark(self, mark: str) -> None:
        """Take the mark of what has followed from the last event."""
        self._mark = mark

    def seal(self) -> None:
        """Write the last mark; no event can follow."""
        self._write(*SEAL)

    def _write(self, key: str, body: str) -> None:
        chain = chained(self._last, self._count, (key, body, self._mark))
        row = (self._count, key, body, self._mark, chain)
        try:
            self._connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", row)
        except sqlite3.Error as error:
            raise JournalError(Reason.UNUSABLE, f"an event cannot be written: {error}") from error
        self._mark, self._last = "", chain

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
        _make_room(path)
    return Journal(connection, History(plan, digest, facts=facts), seed(known))


def _make_room(path: Path) -> None:
    """Lengthen the log: it takes half the time to write where the file need not grow."""
    try:
        with Path(f"{path}-wal").open("ab") as log:
            log.write(bytes(_ROOM))
            log.flush()
            os.fsync(log.fileno())
    except OSError as error:
        raise JournalError(Reason.UNUSABLE, f"its journal cannot be written: {error.strerror}") from error


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
