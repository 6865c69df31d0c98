"""Read the journals of versions 1 and 2, which were SQLite databases with a log beside them.

The files are read into memory and nothing is written to them, so their disk may be read-only. The log is merged here
and not by SQLite, which takes a damaged page for the end of the log.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from struct import Struct, unpack_from

from stagec.core.disk import create_private
from stagec.core.value import value
from stagec.drivers.history import History, JournalError, Reason, check_plan, damage_error, key_of, load_event
from stagec.drivers.local.journal_file import read_at, write_at
from stagec.drivers.local.records import LONGEST
from stagec.runtime.exchange import Event

OLD = ".old"
"""What is put behind the name of an old file when its run goes on in a new one."""
LOG = "-wal"
_FACTS = "CREATE TABLE facts (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
_EVENTS = {
    1: "CREATE TABLE events (seq INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, body TEXT NOT NULL, "
    "mark TEXT NOT NULL, chain TEXT NOT NULL)",
    2: "CREATE TABLE events (seq INTEGER PRIMARY KEY, key TEXT NOT NULL, body TEXT NOT NULL, "
    "mark TEXT NOT NULL, chain TEXT NOT NULL)",
}
"""The table of each version. In version 1 a row has an event and its step digest, in version 2 an event and the step
digest of the event before."""
_SEAL = ("end", "")
"""Key and body of the last row of a run that has ended, in version 2."""
_LOG, _FRAME = Struct(">8I"), Struct(">6I")
_MAGIC, _BIG_ENDIAN = 0x377F0682, 1
_PAGES = {1 << power for power in range(9, 17)}
_LOCKS, _LOCKED = 0x40000000, 512
"""Where SQLite locks a file, and so many bytes."""
_FORMAT = slice(18, 20)
"""Where the header of a database says that it has a log."""


@value
class _Row:
    event: Event | None
    mark: str


def read_old(descriptor: int, path: Path) -> History:
    """Return the history in an old journal and its log; raise `JournalError` for what is no history."""
    _refuse_running(descriptor)
    data = _merge_log(_read_all(descriptor), _log(path))
    data[_FORMAT] = b"\1\1"
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.deserialize(bytes(data))
            connection.execute("PRAGMA trusted_schema = OFF")
            return _read_history(connection)
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise damage_error(str(error)) from error


def keep_old(descriptor: int, path: Path) -> None:
    """Copy an old journal, with its log, to a name of its own."""
    try:
        for suffix, data in (("", _read_all(descriptor)), (LOG, _log(path))):
            if data:
                write = partial(write_at, place=0, data=data)
                os.close(create_private(Path(f"{path}{OLD}{suffix}"), write, replace=True))
    except OSError as error:
        raise JournalError(Reason.UNUSABLE, f"its old journal cannot be kept: {error.strerror or error}") from error


def _refuse_running(descriptor: int) -> None:
    """Refuse a journal that a stagec of that age has open, which locks it as SQLite does."""
    import fcntl

    try:
        fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB, _LOCKED, _LOCKS)
    except (BlockingIOError, PermissionError) as error:
        raise JournalError(Reason.BUSY, "another process is running it") from error
    except OSError:
        return  # where there are no locks, SQLite runs nothing either


def _read_all(descriptor: int) -> bytes:
    return read_at(descriptor, 0, LONGEST)


def _log(path: Path) -> bytes:
    try:
        opened = os.open(f"{path}{LOG}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise JournalError(Reason.UNUSABLE, f"the log of its journal cannot be read: {error.strerror}") from error
    try:
        return _read_all(opened)
    finally:
        os.close(opened)


def _merge_log(data: bytes, log: bytes) -> bytearray:
    """Return a database with the commits of its log; refuse one in which commits follow what is damaged."""
    merged, pages = bytearray(data), dict[int, bytes]()
    frames = _Frames(log, len(data) + len(log))
    for page, committed, content in frames:
        pages[page] = content
        if not committed:
            continue
        size = len(content)
        merged.extend(bytes(max(0, committed * size - len(merged))))
        for number, each in pages.items():
            if number <= committed:
                merged[(number - 1) * size : number * size] = each
        del merged[committed * size :]
        pages.clear()
    if frames.commits_behind > 1:  # of an interrupted commit there can be one
        raise damage_error("events follow in its log after one that is not what was written")
    return merged


class _Frames:
    """The pages in a log up to the first that is damaged, each with its number and, in a commit, the number of all."""

    def __init__(self, log: bytes, most: int) -> None:
        self._log = log
        self._most = most
        self.commits_behind = 0

    def __iter__(self) -> Iterator[tuple[int, int, bytes]]:
        if len(self._log) < _LOG.size:
            return
        magic, _, size, _, *salts, first, second = _LOG.unpack_from(self._log)
        order = ">" if magic & _BIG_ENDIAN else "<"
        sums = _add_to_checksum((0, 0), self._log[: _LOG.size - 8], order)
        if magic & ~_BIG_ENDIAN != _MAGIC or sums != (first, second) or size not in _PAGES:
            raise damage_error("its log does not have a valid header")
        is_good = True
        for place in range(_LOG.size, len(self._log) - _FRAME.size - size + 1, _FRAME.size + size):
            page, committed, *salted = _FRAME.unpack_from(self._log, place)
            content = self._log[place + _FRAME.size : place + _FRAME.size + size]
            if salted[:2] != salts:
                is_good = False
                continue
            if is_good:
                sums = _add_to_checksum(sums, self._log[place : place + 8] + content, order)
                is_good = sums == tuple(salted[2:]) and page > 0 and max(page, committed) * size <= self._most
            if is_good:
                yield page, committed, content
            elif committed:
                self.commits_behind += 1


def _add_to_checksum(sums: tuple[int, int], data: bytes, order: str) -> tuple[int, int]:
    """Return the checksums of a log, continued over some bytes."""
    one, other = sums
    words = unpack_from(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        one = (one + even + other) & 0xFFFFFFFF
        other = (other + odd + one) & 0xFFFFFFFF
    return one, other


def _read_history(connection: sqlite3.Connection) -> History:
    version = _version(connection)
    facts = dict(connection.execute("SELECT name, value FROM facts"))
    plan, digest = facts.get("plan"), facts.get("digest")
    if not isinstance(plan, bytes) or not isinstance(digest, str):
        raise damage_error("its plan is not what was written")
    check_plan(plan, digest)
    others = {name: given for name, given in facts.items() if name not in {"plan", "digest"}}
    if not all(isinstance(each, str) for named in others.items() for each in named):
        raise damage_error("a value beside its plan is not text")
    # the digest with which the chain of the events begins: that of all facts
    found = sha256()
    for name, given in sorted(facts.items()):
        data = given.encode() if isinstance(given, str) else given
        found.update(f"{len(name.encode())} {name} {len(data)} ".encode())
        found.update(data)
    rows = tuple(_read_rows(connection, found.hexdigest()))
    events = tuple(each.event for each in rows if each.event is not None)
    if len({key_of(each) for each in events}) < len(events):
        raise damage_error("it contains an event twice")
    marks = tuple(each.mark for each in rows) if version == 1 else (*(each.mark for each in rows[1:]), "")
    return History(plan, digest, events, marks[: len(events)], others)


def _version(connection: sqlite3.Connection) -> int:
    """Return the version of a journal; refuse whatever has not its tables, because a view may hold anything."""
    tables = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))
    ((version,),) = connection.execute("PRAGMA user_version")
    if not tables:
        raise damage_error("it is empty, as a copy without its log is")
    if tables.get("events") != _EVENTS.get(version, "") or tables != {"facts": _FACTS, "events": _EVENTS[version]}:
        raise damage_error("it does not have the tables of a journal")
    return int(version)


def _read_rows(connection: sqlite3.Connection, last: str) -> Iterator[_Row]:
    rows = connection.execute("SELECT seq, key, body, mark, chain FROM events ORDER BY seq")
    is_sealed = False
    for expected, (seq, key, body, mark, chain) in enumerate(rows):
        if seq != expected or is_sealed or not all(isinstance(each, str) for each in (key, body, mark)):
            raise damage_error(f"event {expected} is not there")
        # the digest of an event and of the one before it
        last = sha256("\n".join((last, str(seq), key, body, mark)).encode()).hexdigest()
        is_sealed = (key, body) == _SEAL
        event = None if is_sealed or chain != last else _load(key, body)
        if chain != last or (event is None) != is_sealed:
            raise damage_error(f"event {expected} is not what was written")
        yield _Row(event, mark.partition(".")[0])  # the state of another stagec has other members


def _load(key: str, body: str) -> Event | None:
    try:
        event = load_event(body)
    except (TypeError, ValueError):
        return None
    return event if key_of(event) == key else None
