"""The history of one run, in a file of its own: every event once, in order, on the disk before anything follows.

The first record holds the plan and what is kept beside it; each other one holds an event and the step digest of the
event before, which is worked out while that is written. A run that has ended has a record more, the seal, which holds
a step digest alone; only an event can follow that resumes the run, takes it back, or changes its plan before that.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from stagec.core.disk import make_private_folder
from stagec.core.value import NOTHING
from stagec.core.words import quote
from stagec.drivers.history import History, JournalError, Reason, dump_event, key_of
from stagec.drivers.local.entries import REOPENING, SEAL, EntryReader, OpenBranch, dump_entry, dump_history
from stagec.drivers.local.journal_file import JournalFile, create_file, open_file, read_at, read_file, resume_file
from stagec.runtime.exchange import Event, Rewound

_SQLITE = b"SQLite format 3\0"
"""How the journals of versions 1 and 2 begin."""


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
            from stagec.drivers.local.legacy import keep_old

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
    """Return what a journal holds, of any version; nothing is written, so the disk may be read-only."""
    descriptor = open_file(path, alone=False)
    try:
        return _read(descriptor, path)
    finally:
        os.close(descriptor)


def _read(descriptor: int, path: Path) -> History:
    if is_old(descriptor):
        from stagec.drivers.local.legacy import read_old

        return read_old(descriptor, path)
    first, *records = read_file(descriptor).records
    return EntryReader(first).read_history(records)


def is_old(descriptor: int) -> bool:
    """Tell whether an open file is a journal of version 1 or 2."""
    return read_at(descriptor, 0, len(_SQLITE)) == _SQLITE


def _create(path: Path, history: History, *, replace: bool = False) -> Journal:
    return Journal(create_file(path, dump_history(history), replace=replace), history)
