"""The file of a journal, and its lock: records are appended, and are on the disk when that returns.

The lock belongs to the process and ends with it, whatever ends it. Whoever appends has the file alone; whoever reads
shares it with others who read.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from stagec.core.disk import RefusedWriteError, create_private, open_private
from stagec.core.value import value
from stagec.drivers.history import JournalError, Reason, damage_error
from stagec.drivers.local.records import (
    LARGEST,
    LONGEST,
    PAGE,
    Head,
    Record,
    check_rest,
    check_title,
    dump_record,
    dump_records,
    read_heads,
    read_records,
)

ROOM = 64 * 1024
"""Bytes of zeros that are written behind a record when a file becomes longer: a file need not grow with each event."""
_PATIENCE = 0.5
"""Seconds to wait for a lock: whoever only reads a journal has it for a moment, whoever runs it for long."""
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@value
class JournalContents:
    """What is in a file: its records, and how many of them are known to have been acknowledged."""

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
    """Return what is in a file; raise `JournalError` when it is not what was written."""
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
