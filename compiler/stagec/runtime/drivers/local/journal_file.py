"""The file of a journal, and its lock: records are appended, and are on the disk when that returns.

The lock belongs to the process and ends with it, whatever ends it. Whoever appends has the file alone; whoever reads
shares it with others who read.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b, sha256
from pathlib import Path
from struct import Struct

from stagec.core.disk import RefusedWriteError, create_private, open_private
from stagec.core.value import value
from stagec.runtime.drivers.history import JournalError, Reason, damage_error

VERSION = 3
"""The version of this format; 1 and 2 were SQLite databases."""
PAGE = 4096
"""Bytes before the first record. No page of a disk holds both a head and a record."""
LARGEST = 1 << 32
"""Bytes that a journal has at most."""
LONGEST = 1 << 30
"""Bytes that a record has at most."""
_TITLE, _HEAD, _HEADER = Struct(">16sI"), Struct(">Q32s"), Struct(">4sQI")
_NAME = b"stagec journal\n"
_HEADS = (512, 1024)
"""The offsets of the heads, each in a sector of its own: that of an even number of records, and that of an odd one."""
_CHECK, _DIGEST = 16, 32
_MARK = b"\xff\xfeJR"
"""The first bytes of a record; no text in a record can hold them, because no UTF-8 has them."""
_CHUNK = 1 << 20


Read = Callable[[int, int], bytes]
"""Returns so many bytes of a file from a place on, fewer at its end."""


@value
class Record:
    """An intact record: its content, its digest, and its end."""

    payload: bytes
    digest: bytes
    end: int


@value
class Bookmark:
    """The place to continue reading: the number of records before it, the digest of the last one, and its end."""

    count: int = 0
    digest: bytes = b""
    end: int = PAGE


_FIRST = Bookmark()


@value
class Head:
    """How many records were acknowledged when it was written, and the digest of the last of them."""

    count: int
    digest: bytes

    def dump(self) -> tuple[int, bytes]:
        """Return its offset and its bytes."""
        return _HEADS[self.count % 2], _add_checksum(_HEAD.pack(self.count, self.digest))


def check_title(data: bytes) -> None:
    """Refuse a file that does not begin as journals of this version do."""
    found = _remove_checksum(data[: _TITLE.size + _CHECK])
    name, version = _TITLE.unpack(found) if found is not None else (b"", 0)
    if name.rstrip(b"\0") != _NAME:
        raise damage_error("it does not have the header of a journal") if data else damage_error("it is empty")
    if version != VERSION:
        told = f"its journal has version {version}, and this is a reader of version {VERSION}"
        raise JournalError(Reason.UNUSABLE, f"{told}; the stagec that began the run can resume it")


def read_heads(page: bytes) -> tuple[Head, ...]:
    """Return the heads in the first page that are whole, the newer one first; raise `JournalError` when none is."""
    parts = (_remove_checksum(page[place : place + _HEAD.size + _CHECK]) for place in _HEADS)
    heads = [Head(*_HEAD.unpack(part)) for part in parts if part is not None]
    if not heads:
        raise damage_error("its head is not what was written")
    return tuple(sorted(heads, key=lambda head: -head.count))


def dump_record(last: bytes, number: int, payload: bytes) -> tuple[bytes, bytes]:
    """Return a record and its digest, given the digest of the record before it."""
    header = _HEADER.pack(_MARK, number, len(payload))
    digest = _digest(last, header, (payload,))
    return b"".join((header, digest, payload)), digest


def dump_records(payloads: Iterable[bytes]) -> tuple[bytes, tuple[Record, ...]]:
    """Return the bytes of a journal with its first records, all of them acknowledged, and the records."""
    records: list[Record] = []
    parts, end, last = [b""], PAGE, b""
    for number, payload in enumerate(payloads):
        data, last = dump_record(last, number, payload)
        end += len(data)
        parts.append(data)
        records.append(Record(payload, last, end))
    place, head = Head(len(records), last).dump()
    title = _add_checksum(_TITLE.pack(_NAME, VERSION))
    parts[0] = (title.ljust(place, b"\0") + head).ljust(PAGE, b"\0")
    return b"".join(parts), tuple(records)


def read_records(read: Read, size: int, bookmark: Bookmark = _FIRST) -> Iterator[Record]:
    """Yield the records of a file, from a bookmark on, up to the first that is not as it was written."""
    place, last = bookmark.end, bookmark.digest
    for number in range(bookmark.count, size):
        start = read(place, _HEADER.size + _DIGEST)
        if len(start) < _HEADER.size + _DIGEST:
            return
        mark, found, length = _HEADER.unpack_from(start)
        place += len(start)
        if (mark, found) != (_MARK, number) or length > min(size - place, LONGEST):
            return
        pieces = (read(at, min(_CHUNK, place + length - at)) for at in range(place, place + length, _CHUNK))
        last = _digest(last, start[: _HEADER.size], pieces)
        if start[_HEADER.size :] != last:
            return
        payload = read(place, length)  # only now: whoever made the file up may claim any length
        place += length
        yield Record(payload, last, place)


def check_rest(read: Read, size: int, place: int, count: int) -> None:
    """Refuse a file in which a record follows one that is not as it was written.

    After the last good record there is free room, or one interrupted commit: one record and never more. Only a copy
    that was made during commits has more there, because its pieces are of different moments.
    """
    following = _HEADER.pack(_MARK, count + 1, 0)[: _HEADER.size - 4]
    before = b""
    while place < size and (chunk := read(place, _CHUNK)):
        if following in before + chunk:
            raise damage_error(f"record {count} is not what was written")
        before, place = chunk[-len(following) :], place + len(chunk)


def _digest(last: bytes, header: bytes, parts: Iterable[bytes]) -> bytes:
    """Return the digest of a record, which binds it to the one before."""
    found = sha256(last + header)
    for part in parts:
        found.update(part)
    return found.digest()


def _add_checksum(data: bytes) -> bytes:
    return data + blake2b(data, digest_size=_CHECK).digest()


def _remove_checksum(data: bytes) -> bytes | None:
    """Return the bytes without their checksum; None if it does not match."""
    return data[:-_CHECK] if data == _add_checksum(data[:-_CHECK]) else None


ROOM = 64 * 1024
"""Bytes of zeros that are written behind a record when a file becomes longer: a file need not grow with each event."""
_PATIENCE = 0.5
"""Seconds to wait for a lock: whoever only reads a journal has it for a moment, whoever runs it for long."""
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@value
class JournalContents:
    """The content of a file: its records, and how many of them are known to have been acknowledged."""

    records: Sequence[Record]
    acknowledged: int


class JournalFile:
    """An open file of records, to which this process alone appends."""

    def __init__(self, descriptor: int, records: Sequence[Record], size: int) -> None:
        self.descriptor = descriptor
        self.count = len(records)
        self._end = records[-1].end
        self._digest = records[-1].digest
        self._size = size
        self._is_whole = True

    def append(self, payload: bytes) -> None:
        """Append a record; it is on the disk when this returns. Nothing can follow what could not be written."""
        if not self._is_whole:
            raise JournalError(Reason.UNUSABLE, "an event cannot be written: the event before it could not be written")
        data, digest = dump_record(self._digest, self.count, payload)
        end = self._end + len(data)
        if len(payload) > LONGEST or end + ROOM > LARGEST:
            raise JournalError(Reason.UNUSABLE, "an event cannot be written: the journal is too large")
        self._is_whole = False
        try:
            write_at(self.descriptor, self._end, data if end <= self._size else data + bytes(ROOM))
            synchronise(self.descriptor)
            write_at(self.descriptor, *Head(self.count + 1, digest).dump())
        except OSError as error:
            raise JournalError(Reason.UNUSABLE, f"an event cannot be written: {error.strerror or error}") from error
        self._size = max(self._size, end + ROOM) if end > self._size else self._size
        self.count, self._end, self._digest, self._is_whole = self.count + 1, end, digest, True

    def close(self) -> None:
        """Let go of the file."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def create_file(path: Path, payloads: Sequence[bytes], *, replace: bool = False) -> JournalFile:
    """Create a file with its first records: whole, or not at all; the name being taken is a `JournalError`."""
    data, records = dump_records(payloads)
    if len(data) + ROOM > LARGEST or any(len(each) > LONGEST for each in payloads):
        raise JournalError(Reason.UNUSABLE, "its journal cannot be written: it is too large")

    def write(descriptor: int) -> None:
        lock(descriptor, alone=True)
        write_at(descriptor, 0, data + bytes(ROOM))

    try:
        created = create_private(path, write, replace=replace)
    except FileExistsError as error:
        raise JournalError(Reason.TAKEN, "there is a run of this name already") from error
    except OSError as error:
        raise JournalError(Reason.UNUSABLE, f"its journal cannot be written: {error.strerror or error}") from error
    return JournalFile(created, records, len(data) + ROOM)


def open_file(path: Path, *, alone: bool) -> int:
    """Open a file and lock it: alone to append to it, else together with others who read."""
    descriptor = open_unlocked(path, alone=alone)
    try:
        lock(descriptor, alone=alone)
        _refuse_replaced(descriptor, path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def open_unlocked(path: Path, *, alone: bool = False) -> int:
    """Open a file, to append to it or to read it."""
    try:
        descriptor = open_private(path) if alone else os.open(path, _READ)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise JournalError(Reason.MISSING, "there is no such run") from error
    except RefusedWriteError as error:
        raise JournalError(Reason.UNUSABLE, f"its journal cannot be used: {error.strerror}") from error
    except OSError as error:
        told = f"its journal cannot be opened{' for writing' if alone else ''}: {error.strerror or error}"
        raise JournalError(Reason.UNUSABLE, told) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise JournalError(Reason.UNUSABLE, "its journal cannot be used: it is not a file")
    return descriptor


def _refuse_replaced(descriptor: int, path: Path) -> None:
    """Refuse a file that another process has replaced while its lock was waited for."""
    if not is_same_file(descriptor, path):
        raise JournalError(Reason.BUSY, "another process is beginning it")


def is_same_file(descriptor: int, path: Path) -> bool:
    """Tell whether an open file still has its name: another process may have replaced it."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


def is_locked(descriptor: int) -> bool:
    """Tell whether another process has an open file alone; where there are no locks, nobody has."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        return False
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


def lock(descriptor: int, *, alone: bool) -> None:
    """Lock a file until it is closed or the process ends; raise `JournalError` when another process has it."""
    try:
        import fcntl
    except ImportError as error:
        raise JournalError(Reason.UNUSABLE, "its journal cannot be used: this system has no locks") from error
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > end:
                raise JournalError(Reason.BUSY, "another process is running it") from error
            time.sleep(0.02)
        except OSError as error:
            if alone:
                told = f"its journal cannot be locked, and two processes could run it: {error.strerror}"
                raise JournalError(Reason.UNUSABLE, told) from error
            return  # where there are no locks, nobody runs anything
        else:
            return


def read_file(descriptor: int) -> JournalContents:
    """Return the content of a file; raise `JournalError` if it is not intact."""
    size = os.fstat(descriptor).st_size
    if size > LARGEST:
        raise damage_error("it exceeds the maximum size of a journal")

    read = partial(read_at, descriptor)
    first = read(0, PAGE)
    check_title(first)
    head, *older = read_heads(first)
    records = tuple(read_records(read, size))
    if not 0 < head.count <= len(records) or records[head.count - 1].digest != head.digest:
        raise damage_error(f"record {min(len(records), head.count)} is not what was written")
    if not older:  # the head that is lost may have been the newer one
        check_rest(read, size, records[-1].end, len(records))
    return JournalContents(records, head.count)


def resume_file(descriptor: int, contents: JournalContents) -> JournalFile:
    """Append to a file from its last good record on.

    What was written and not acknowledged may be in memory alone, so it is written once more before it counts; what is
    left of an interrupted commit is removed.
    """
    records = contents.records
    end, known = records[-1].end, records[contents.acknowledged - 1].end
    try:
        if end > known:
            write_at(descriptor, known, read_at(descriptor, known, end - known))
        os.ftruncate(descriptor, end)
        synchronise(descriptor)
        write_at(descriptor, *Head(len(records), records[-1].digest).dump())
    except OSError as error:
        raise JournalError(Reason.UNUSABLE, f"its journal cannot be written: {error.strerror or error}") from error
    return JournalFile(descriptor, records, end)


def read_at(descriptor: int, place: int, length: int) -> bytes:
    """Return so many bytes, fewer at the end of a file."""
    try:
        return os.pread(descriptor, length, place)
    except OSError as error:
        raise JournalError(Reason.UNUSABLE, f"its journal cannot be read: {error.strerror or error}") from error


def write_at(descriptor: int, place: int, data: bytes) -> None:
    """Write all of some bytes."""
    rest = memoryview(data)
    while rest:
        written = os.pwrite(descriptor, rest, place)
        rest, place = rest[written:], place + written


def synchronise(descriptor: int) -> None:
    """Wait until what was written is on the disk."""
    if sys.platform == "darwin":  # where `fsync` does not wait for the disk
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(descriptor)
