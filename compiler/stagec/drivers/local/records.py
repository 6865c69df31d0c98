"""The bytes of a journal: a title, two heads, and records that are chained together by their digests.

A file begins with a page that holds the title and, at two places, a head: how many records have been acknowledged, and
the digest of the last one. Heads are written in turn, so that one of them is always whole. The records follow the page,
one behind the other; zeros follow the records, as room for more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b, sha256
from struct import Struct

from stagec.core.value import value
from stagec.drivers.history import JournalError, Reason, damage_error

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
"""Where the heads are, each in a sector of its own: that of an even number of records, and that of an odd one."""
_CHECK, _DIGEST = 16, 32
_MARK = b"\xff\xfeJR"
"""How a record begins; no text in a record can hold these bytes, because no UTF-8 has them."""
_CHUNK = 1 << 20

Read = Callable[[int, int], bytes]
"""Returns so many bytes of a file from a place on, fewer at its end."""


@value
class Record:
    """A record that is as it was written: what it holds, its digest, and where it ends."""

    payload: bytes
    digest: bytes
    end: int


@value
class Bookmark:
    """Where reading goes on: how many records were before, the digest of the last one, and where it ends."""

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
        """Return where it is written, and its bytes."""
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

    What follows the last good record is room, or a commit that was interrupted: that is one record and never more. Only
    a copy that was made during commits has more there, because its pieces are of different moments.
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
    """Return what was checked; nothing when it is not what was written."""
    return data[:-_CHECK] if data == _add_checksum(data[:-_CHECK]) else None
