"""What the records of a journal hold: the plan first, then the events in order, each with a step digest."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from stagec.drivers.history import (
    UNTIMED,
    EventTimes,
    History,
    add_times,
    check_plan,
    damage_error,
    dump_event,
    key_of,
    load_timed_event,
    strip_times,
)
from stagec.drivers.local.records import Record
from stagec.runtime.exchange import Cancelled, Event, Replanned, Resumed, Rewound

SEAL = ""
"""What the record after the last event of a run that has ended holds instead of an event."""
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
    """Return what a record holds after the first: the step digest of the event before, and an event as JSON."""
    return f"{step_digest}\n{body}".encode()


def dump_history(history: History) -> list[bytes]:
    """Return what the records of a journal hold that begins with a history."""
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
        """Those of the events that have been taken."""
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
