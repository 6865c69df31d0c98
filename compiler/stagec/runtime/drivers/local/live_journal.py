"""Read a journal while another process appends to it: only acknowledged records, even if that process is killed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import partial
from itertools import islice
from pathlib import Path

from stagec.core.value import NOTHING
from stagec.runtime.drivers.following import News, StoredHistory
from stagec.runtime.drivers.history import EventTimes, History, JournalError, Reason, damage_error, strip_times
from stagec.runtime.drivers.local.drive import read_interruption
from stagec.runtime.drivers.local.journal import EntryReader, is_old, read_journal
from stagec.runtime.drivers.local.journal_file import (
    LARGEST,
    PAGE,
    Bookmark,
    Head,
    Record,
    check_title,
    is_locked,
    is_same_file,
    open_unlocked,
    read_at,
    read_heads,
    read_records,
)
from stagec.runtime.machine.exchange import Event

_TRIES = 5
"""How often the heads are read: both may be in the middle of being written while they are."""


class LiveJournal:
    """A journal that somebody else may be writing; it is never locked for longer than it takes to ask.

    `plan`, `digest` and `facts` are those of the file that was read last. What can be wrong with a journal is raised as
    `JournalError`; the next call reads it from the beginning.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.plan, self.digest, self.facts = b"", "", NOTHING
        self._descriptor = -1
        self._entries: EntryReader | None = None
        self._bookmark = Bookmark()
        self._ahead = 0
        """How many records behind the head have been read."""
        self._is_old = False

    def is_executed(self) -> bool:
        """Tell whether a process executes the run; ask before you read, because it may end in between."""
        self._follow()
        return is_locked(self._descriptor)

    def read_more(self) -> News:
        """Return the news since the last call."""
        try:
            self._follow()
            if self._is_old:  # nobody appends to it: it is replaced
                return News((), begins=False)
            if self._entries is None:
                events = self._begin()
                return News(events, begins=True, times=self._take_times())
            events = self._take(self._entries, self._read_records())
            return News(events, begins=False, times=self._take_times())
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file; reading begins again after this."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor, self._entries, self._bookmark, self._ahead, self._is_old = -1, None, Bookmark(), 0, False

    def _follow(self) -> None:
        """Open the file that has the name now."""
        if self._descriptor >= 0 and is_same_file(self._descriptor, self.path):
            return
        self.close()
        self._descriptor = open_unlocked(self.path)

    def _begin(self) -> tuple[Event, ...]:
        """Read a file from its beginning."""
        if is_old(self._descriptor):
            from stagec.runtime.drivers.local.journal import read_old

            history = read_old(self._descriptor, self.path)
            self._remember(history.plan, history.digest, history.facts)
            self._is_old = True
            return history.events
        check_title(read_at(self._descriptor, 0, PAGE))
        first, *records = self._read_records()
        entries = EntryReader(first)
        self._remember(entries.plan, entries.digest, entries.facts)
        self._entries = entries
        return self._take(entries, records)

    def _take_times(self) -> tuple[EventTimes, ...]:
        """Return the times of the events that were read now."""
        if self._entries is None:
            return ()
        times = strip_times(self._entries.times)
        self._entries.times.clear()
        return times

    def _remember(self, plan: bytes, digest: str, facts: Mapping[str, str]) -> None:
        self.plan, self.digest, self.facts = plan, digest, facts

    def _take(self, entries: EntryReader, records: list[Record]) -> tuple[Event, ...]:
        return tuple(event for _, event in map(entries.take, records) if event is not None)

    def _read_records(self) -> list[Record]:
        """Return the records that count and have not been read.

        While nobody executes the run, a whole record behind the head counts as well: whoever resumes the run takes it.
        A process leaves one that is killed after the record and before its head.
        """
        is_left = not is_locked(self._descriptor)
        read, known = partial(read_at, self._descriptor), self._bookmark
        head = self._read_head()
        size = os.fstat(self._descriptor).st_size
        if size > LARGEST:
            raise damage_error("it exceeds the maximum size of a journal")
        count = head.count - known.count
        records = list(islice(read_records(read, size, known), max(0, count + is_left)))
        if count + self._ahead < 0 or len(records) < count:
            raise damage_error(f"record {known.count + len(records)} is not what was written")
        if count >= 0:
            if (records[count - 1] if count else known).digest != head.digest:
                raise damage_error(f"record {head.count} is not what was written")
            if is_locked(self._descriptor):  # somebody may have begun to write meanwhile
                del records[count:]
            self._ahead = len(records) - count
        if records:
            self._bookmark = Bookmark(known.count + len(records), records[-1].digest, records[-1].end)
        return records

    def _read_head(self) -> Head:
        """Return the newest head; what a page shows may be half of one moment and half of the next."""
        for _ in range(_TRIES):
            page = read_at(self._descriptor, 0, PAGE)
            with suppress(JournalError):
                head = read_heads(page)[0]
                if head.count + self._ahead >= self._bookmark.count:
                    return head
        return read_heads(page)[0]


def read_stored(path: Path) -> StoredHistory:
    """Return the content of a journal of any version, while its run is executed the acknowledged part."""
    with closing(LiveJournal(path)) as live:
        try:
            if not live.is_executed():
                return StoredHistory(read_journal(path), is_executed=False, interruption=read_interruption(path))
        except JournalError as error:
            if error.reason is not Reason.BUSY:  # otherwise somebody has begun to execute the run meanwhile
                raise
        news = live.read_more()
        digests = ("",) * len(news.events)
        history = History(live.plan, live.digest, news.events, digests, live.facts, news.times)
        return StoredHistory(history, is_executed=True)
