"""The history of one run, in a file of its own: every event once, in order, on the disk before anything follows.

The first record holds the plan and what is kept beside it; each other one holds an event and the step digest of the
event before, which is worked out while that is written. A run that has ended has a record more, the seal, which holds
a step digest alone; only an event can follow that resumes the run, takes it back, or changes its plan before that.
"""

from __future__ import annotations

import json
import os
import sqlite3
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from struct import Struct, unpack_from

from stagec.core.disk import create_private, make_private_folder
from stagec.core.value import NOTHING, value
from stagec.core.words import quote
from stagec.runtime.drivers.history import (
    UNTIMED,
    EventTimes,
    History,
    JournalError,
    Reason,
    add_times,
    check_plan,
    damage_error,
    dump_event,
    key_of,
    load_event,
    load_timed_event,
    strip_times,
)
from stagec.runtime.drivers.local.journal_file import (
    LONGEST,
    JournalFile,
    Record,
    create_file,
    open_file,
    read_at,
    read_file,
    resume_file,
    write_at,
)
from stagec.runtime.machine.exchange import Cancelled, Event, Replanned, Resumed, Rewound

SEAL = ""
"""The content of the record after the last event of a run that has ended."""
_OFTEN = (Cancelled, Resumed, Replanned, Rewound)
"""Events that may happen to a run several times: what is cancelled can be resumed, and cancelled again."""
REOPENING = (Resumed, Replanned, Rewound)
"""Events that may follow the end of a run: it goes on, or is about to, under another plan, or from an earlier place."""


def list_keys(events: Iterable[Event]) -> Iterator[str]:
    """Yield the keys of the events that can happen once."""
    return (key_of(event) for event in events if not isinstance(event, _OFTEN))


class OpenBranch:
    """The events on the present branch of a history, by number, each with its key if it can happen once on a branch."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._count = 0
        self._seqs: list[int] = []
        self._keys: dict[str, int] = {}
        for event in events:
            self.take(event)

    def allows(self, event: Event) -> bool:
        """Tell whether an event can follow: its key is new, or a branch can begin where it says."""
        if isinstance(event, Rewound):
            place = bisect_left(self._seqs, event.to - 1)
            return place < len(self._seqs) and self._seqs[place] == event.to - 1
        return not any(key in self._keys for key in list_keys((event,)))

    def take(self, event: Event) -> None:
        """Take an event that follows."""
        if isinstance(event, Rewound):
            del self._seqs[bisect_left(self._seqs, event.to) :]
            self._keys = {key: seq for key, seq in self._keys.items() if seq < event.to}
        else:
            self._seqs.append(self._count)
            self._keys.update((key, self._count) for key in list_keys((event,)))
        self._count += 1


def dump_entry(step_digest: str, body: str) -> bytes:
    """Return the content of a record after the first: the step digest of the event before, and an event as JSON."""
    return f"{step_digest}\n{body}".encode()


def dump_history(history: History) -> list[bytes]:
    """Return the records of a journal that begins with a history."""
    beside = json.dumps({"digest": history.digest, "facts": dict(history.facts)})
    times = history.times or (UNTIMED,) * len(history.events)
    bodies = map(add_times, map(dump_event, history.events), times)
    entries = map(dump_entry, ("", *history.step_digests), bodies)
    return [beside.encode() + b"\n" + history.plan, *entries]


class EntryReader:
    """Reads the records of a journal, which may be anybody's: that their digests are right says nothing of them."""

    def __init__(self, first: Record) -> None:
        self.plan, self.digest, self.facts = _read_first(first.payload)
        self.is_sealed = False
        self.times: list[EventTimes] = []
        """The times of the taken events."""
        self._count = 0
        self._branch = OpenBranch()

    def take(self, record: Record) -> tuple[str, Event | None]:
        """Return the step digest of the event before, and an event, nothing of a seal."""
        first, end, body = record.payload.partition(b"\n")
        if not end:
            raise damage_error("an entry is invalid")
        event = self._read_event(body) if body else None
        if (self.is_sealed and not isinstance(event, REOPENING)) or (event is None and not self._count):
            raise damage_error("an event follows the end of the run")
        self.is_sealed = event is None
        try:
            return first.decode("ascii"), event
        except UnicodeDecodeError as error:
            raise damage_error("a step digest is invalid") from error

    def read_history(self, records: Sequence[Record]) -> History:
        """Return the history in the records that follow."""
        entries = list(map(self.take, records))
        following = [*(first for first, _ in entries[1:]), ""]
        pairs = [(event, each) for (_, event), each in zip(entries, following, strict=False) if event is not None]
        events, step_digests = tuple(event for event, _ in pairs), tuple(each for _, each in pairs)
        return History(self.plan, self.digest, events, step_digests, self.facts, strip_times(self.times))

    def _read_event(self, body: bytes) -> Event:
        try:
            event, times = load_timed_event(body.decode())
        except (TypeError, ValueError) as error:
            raise damage_error(f"event {self._count} is invalid") from error
        self._count += 1
        self.times.append(times)
        if not self._branch.allows(event):
            is_back = isinstance(event, Rewound)
            raise damage_error("it goes back to no event" if is_back else "it contains an event twice")
        self._branch.take(event)
        return event


def _read_first(payload: bytes) -> tuple[bytes, str, dict[str, str]]:
    """Return a plan, its digest, and what is kept beside it."""
    first, _, plan = payload.partition(b"\n")
    try:
        found = json.loads(first)
    except (ValueError, RecursionError) as error:
        raise damage_error("a value beside its plan differs from what was written") from error
    match found:
        case {"digest": str(digest), "facts": dict(facts)} if {type(each) for each in facts.values()} <= {str}:
            check_plan(plan, digest)
            return plan, digest, facts
        case _:
            raise damage_error("a value beside its plan is not text")


OLD = ".old"
"""The suffix of an old file when its run continues in a new one."""
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
"""The offset and the length of the bytes that SQLite locks in a file."""
_FORMAT = slice(18, 20)
"""The bytes in the header of a database that tell about a log."""


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
    """Refuse a journal that an older stagec has open; it locks the file as SQLite does."""
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


_SQLITE = b"SQLite format 3\0"
"""The first bytes of journals of versions 1 and 2."""


class Journal:
    """An open journal, to which this process alone appends."""

    def __init__(self, file: JournalFile, history: History, *, is_sealed: bool = False) -> None:
        self._file = file
        self._branch = OpenBranch(history.events)
        self._is_sealed = is_sealed
        self._count = len(history.events)
        self._step_digest = history.step_digests[-1] if history.step_digests else ""
        self.history = history
        self.waits = True

    @property
    def count(self) -> int:
        """How many events it holds, and the number of the next."""
        return self._count

    def append(self, event: Event, body: str | None = None) -> None:
        """Write an event, and the step digest of the one before; both are on the disk when this returns.

        `body` is the event as JSON, where somebody has it already. An event of a known key, and one that is no JSON,
        is a `JournalError`.
        """
        if not self._branch.allows(event):
            why = (
                "it goes back to no event" if isinstance(event, Rewound) else f"{quote(key_of(event))} is there already"
            )
            raise JournalError(Reason.UNUSABLE, f"an event cannot be written: {why}")
        try:
            text = dump_event(event) if body is None else body
        except (TypeError, ValueError) as error:
            raise JournalError(Reason.UNUSABLE, f"an event cannot be written: {error}") from error
        if self._is_sealed and not isinstance(event, REOPENING):
            raise JournalError(Reason.UNUSABLE, "an event cannot be written: the run has ended")
        self._append(text)
        self._is_sealed = False
        self._count += 1
        self._branch.take(event)

    def take_digest(self, step_digest: str) -> None:
        """Take the step digest of the last event; it is written with the next one, or by `seal`."""
        self._step_digest = step_digest

    def seal(self) -> None:
        """Write the last step digest: the run has ended, and no event can follow but one that resumes it."""
        self._append(SEAL)
        self._is_sealed = True

    def _append(self, body: str) -> None:
        self._file.append(dump_entry(self._step_digest, body))
        self._step_digest = ""

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


def create(path: Path, plan: bytes, digest: str, facts: Mapping[str, str] = NOTHING) -> Journal:
    """Begin the journal of a run of a plan; one that holds any event already is a `JournalError`.

    `facts` are kept beside the plan for whoever resumes the run.
    """
    try:
        make_private_folder(path.parent)
    except OSError as error:
        raise JournalError(Reason.UNUSABLE, f"cannot make {quote(path.parent)}: {error.strerror}") from error
    history = History(plan, digest, facts=facts)
    if not os.path.lexists(path):
        return _create(path, history)
    descriptor = open_file(path, alone=True)
    try:
        if _read(descriptor, path).events:
            raise JournalError(Reason.TAKEN, "there is a run of this name already")
        return _create(path, history, replace=True)
    finally:
        os.close(descriptor)


def fork_journal(path: Path, history: History) -> Journal:
    """Begin the journal of a run with the past of another; any file of this name is a `JournalError`."""
    try:
        make_private_folder(path.parent)
    except OSError as error:
        raise JournalError(Reason.UNUSABLE, f"cannot make {quote(path.parent)}: {error.strerror}") from error
    return _create(path, history)


def open_journal(path: Path) -> Journal:
    """Open a journal to append to it; raise `JournalError` when another process has it, or it is damaged.

    One of an older version is rewritten in this version, and the old file is kept beside it.
    """
    descriptor = open_file(path, alone=True)
    try:
        if is_old(descriptor):
            history = _read(descriptor, path)
            keep_old(descriptor, path)
            journal = _create(path, history, replace=True)
            os.close(descriptor)
            return journal
        contents = read_file(descriptor)
        reader = EntryReader(contents.records[0])
        history = reader.read_history(contents.records[1:])
        return Journal(resume_file(descriptor, contents), history, is_sealed=reader.is_sealed)
    except BaseException:
        os.close(descriptor)
        raise


def read_journal(path: Path) -> History:
    """Return the history in a journal of any version; nothing is written, so the disk may be read-only."""
    descriptor = open_file(path, alone=False)
    try:
        return _read(descriptor, path)
    finally:
        os.close(descriptor)


def _read(descriptor: int, path: Path) -> History:
    if is_old(descriptor):
        return read_old(descriptor, path)
    first, *records = read_file(descriptor).records
    return EntryReader(first).read_history(records)


def is_old(descriptor: int) -> bool:
    """Tell whether an open file is a journal of version 1 or 2."""
    return read_at(descriptor, 0, len(_SQLITE)) == _SQLITE


def _create(path: Path, history: History, *, replace: bool = False) -> Journal:
    return Journal(create_file(path, dump_history(history), replace=replace), history)
