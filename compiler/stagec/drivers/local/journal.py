"""The history of one run, in a file of its own: every event once, in order, on the disk before anything follows.

The first record holds the plan and what is kept beside it; each other one holds an event and the step digest of the
event before, which is worked out while that is written. A run that has ended has a record more, the seal, which holds
a step digest alone; only an event that resumes the run can follow.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from stagec.core.disk import make_private_folder
from stagec.core.value import NOTHING
from stagec.core.words import quote
from stagec.drivers.local.history import (
    History,
    JournalError,
    Reason,
    check_plan,
    damage_error,
    dump_event,
    key_of,
    load_event,
)
from stagec.drivers.local.journal_file import JournalFile, create_file, open_file, read_at, read_file, resume_file
from stagec.drivers.local.records import Record
from stagec.runtime.exchange import Cancelled, Event, Resumed

_SQLITE = b"SQLite format 3\0"
"""How the journals of versions 1 and 2 begin."""


_SEAL = ""
"""What the record after the last event of a run that has ended holds instead of an event."""
_OFTEN = (Cancelled, Resumed)
"""Events that may happen to a run several times: what is cancelled can be resumed, and cancelled again."""


class Journal:
    """An open journal, to which this process alone appends."""

    def __init__(self, file: JournalFile, history: History, *, is_sealed: bool = False) -> None:
        self._file = file
        self._keys = set(_list_keys(history.events))
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
        key = key_of(event)
        if key in self._keys:
            raise JournalError(Reason.UNUSABLE, f"an event cannot be written: {quote(key)} is there already")
        try:
            text = dump_event(event) if body is None else body
        except (TypeError, ValueError) as error:
            raise JournalError(Reason.UNUSABLE, f"an event cannot be written: {error}") from error
        if self._is_sealed and not isinstance(event, Resumed):
            raise JournalError(Reason.UNUSABLE, "an event cannot be written: the run has ended")
        self._append(text)
        self._is_sealed = False
        self._count += 1
        self._keys.update(_list_keys((event,)))

    def take_digest(self, step_digest: str) -> None:
        """Take the step digest of the last event; it is written with the next one, or by `seal`."""
        self._step_digest = step_digest

    def seal(self) -> None:
        """Write the last step digest: the run has ended, and no event can follow but one that resumes it."""
        self._append(_SEAL)
        self._is_sealed = True

    def _append(self, body: str) -> None:
        self._file.append(_payload(self._step_digest, body))
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


def open_journal(path: Path) -> Journal:
    """Open a journal to append to it; raise `JournalError` when another process has it, or it is damaged.

    One of an older version is rewritten in this version, and the old file is kept beside it.
    """
    descriptor = open_file(path, alone=True)
    try:
        if _is_old(descriptor):
            from stagec.drivers.local.legacy import keep_old

            history = _read(descriptor, path)
            keep_old(descriptor, path)
            journal = _create(path, history, replace=True)
            os.close(descriptor)
            return journal
        contents = read_file(descriptor)
        history = _history(contents.records)
        is_sealed = len(contents.records) > 1 and not _split(contents.records[-1])[1]
        return Journal(resume_file(descriptor, contents), history, is_sealed=is_sealed)
    except BaseException:
        os.close(descriptor)
        raise


def read_journal(path: Path) -> History:
    """Return what a journal holds, of any version; nothing is written, so the disk may be read-only."""
    descriptor = open_file(path, alone=False)
    try:
        return _read(descriptor, path)
    finally:
        os.close(descriptor)


def _read(descriptor: int, path: Path) -> History:
    if _is_old(descriptor):
        from stagec.drivers.local.legacy import read_old

        return read_old(descriptor, path)
    return _history(read_file(descriptor).records)


def _is_old(descriptor: int) -> bool:
    return read_at(descriptor, 0, len(_SQLITE)) == _SQLITE


def _create(path: Path, history: History, *, replace: bool = False) -> Journal:
    beside = json.dumps({"digest": history.digest, "facts": dict(history.facts)})
    entries = map(_payload, ("", *history.step_digests), map(dump_event, history.events))
    return Journal(create_file(path, [beside.encode() + b"\n" + history.plan, *entries], replace=replace), history)


def _payload(step_digest: str, body: str) -> bytes:
    return f"{step_digest}\n{body}".encode()


def _history(records: Sequence[Record]) -> History:
    """Return the history in records, which may be anybody's: that their digests are right says nothing of them."""
    plan, digest, facts = _beside(records[0].payload)
    entries = list(map(_split, records[1:]))
    events = tuple(_event(number, body) for number, body in enumerate(body for _, body in entries if body))
    _refuse_late(entries, events)
    keys = list(_list_keys(events))
    if len({*keys}) < len(keys):
        raise damage_error("an event is in it twice")
    step_digests = (*(_text(first) for first, _ in entries[1:]), "")
    of_events = tuple(step_digests[number] for number, (_, body) in enumerate(entries) if body)
    return History(plan, digest, events, of_events, facts)


def _refuse_late(entries: Sequence[tuple[bytes, bytes]], events: Sequence[Event]) -> None:
    """Refuse what follows the end of a run and does not resume it."""
    following = iter(events)
    for (_, before), (_, body) in pairwise((*entries[:1], *entries)):
        event = next(following) if body else None
        if not before and not isinstance(event, Resumed):
            raise damage_error("something follows the end of the run")


def _split(record: Record) -> tuple[bytes, bytes]:
    """Return the step digest of the event before, and an event, nothing of a seal."""
    first, end, body = record.payload.partition(b"\n")
    if not end:
        raise damage_error("an entry is none")
    return first, body


def _list_keys(events: Iterable[Event]) -> Iterator[str]:
    """Yield the keys of the events that can happen once."""
    return (key_of(event) for event in events if not isinstance(event, _OFTEN))


def _beside(payload: bytes) -> tuple[bytes, str, dict[str, str]]:
    """Return a plan, its digest, and what is kept beside it."""
    first, _, plan = payload.partition(b"\n")
    try:
        found = json.loads(first)
    except (ValueError, RecursionError) as error:
        raise damage_error("what is kept beside its plan is not what was written") from error
    match found:
        case {"digest": str(digest), "facts": dict(facts)} if {type(each) for each in facts.values()} <= {str}:
            check_plan(plan, digest)
            return plan, digest, facts
        case _:
            raise damage_error("what is kept beside its plan is no text")


def _event(number: int, body: bytes) -> Event:
    try:
        return load_event(body.decode())
    except (TypeError, ValueError) as error:
        raise damage_error(f"event {number} is none") from error


def _text(step_digest: bytes) -> str:
    try:
        return step_digest.decode("ascii")
    except UnicodeDecodeError as error:
        raise damage_error("a step digest is none") from error
