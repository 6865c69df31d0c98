"""The content of a journal, events as JSON, and the reasons why a journal cannot be used."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum

from stagec.core.json import Json, Object, object_of
from stagec.core.value import NOTHING, value
from stagec.ir.plan.loader import PlanError, read_frame
from stagec.runtime.machine.exchange import MACHINE, Answered, Cancelled, Event, Replanned, Resumed, Rewound, Started


class Reason(StrEnum):
    """Why a journal cannot be used, in a word."""

    MISSING = "missing"
    TAKEN = "taken"
    BUSY = "running"
    DAMAGED = "damaged"
    UNUSABLE = "unusable"


class JournalError(Exception):
    """A journal that cannot be used.

    `str()` says why, in a sentence without a full stop.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def damage_error(message: str) -> JournalError:
    """Return the error of a journal that is not what was written."""
    return JournalError(Reason.DAMAGED, f"its journal is damaged: {message}")


@value
class EventTimes:
    """When an event was written, and when the answering of the request began that it answers; None: nobody knows.

    Both are nanoseconds since 1970 by the clock of the machine. Nothing that follows from an event depends on them.
    """

    at: int | None = None
    begun: int | None = None


UNTIMED = EventTimes()


@value
class History:
    """The content of a journal: the plan's file and its digest, the events in order, and the step digest of each.

    `facts` are whatever was put beside the plan when the run began. A step digest is empty where none was written.
    `times` are those of the events, none where a journal is older than that.
    """

    plan: bytes
    digest: str
    events: tuple[Event, ...] = ()
    step_digests: tuple[str, ...] = ()
    facts: Mapping[str, str] = NOTHING
    times: tuple[EventTimes, ...] = ()

    @property
    def last_change(self) -> Replanned | None:
        """The last change of the plan; None where the run has the plan with which it was begun."""
        branch = reversed(list_branch(self.events))
        return next((each for seq in branch if isinstance(each := self.events[seq], Replanned)), None)

    @property
    def latest(self) -> tuple[bytes, str]:
        """The file of the plan with which the run goes on, and its digest."""
        changed = self.last_change
        return (self.plan, self.digest) if changed is None else (changed.plan.encode(), changed.digest)


def list_branch(events: Iterable[Event]) -> list[int]:
    """Return the numbers of the events on the present branch of a history: the state follows from these alone."""
    branch: list[int] = []
    for seq, event in enumerate(events):
        if type(event) is Rewound:
            del branch[bisect_left(branch, event.to) :]
        else:
            branch.append(seq)
    return branch


def check_plan(plan: bytes, digest: str) -> None:
    """Refuse a plan that has another digest than the journal says."""
    with suppress(PlanError):
        if read_frame(plan)[0] == digest:
            return
    raise damage_error("its plan is not what was written")


_ENCODE = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
"""Everything but ASCII is escaped, so that half a character, which no file can hold, comes back as it was."""


def key_of(event: Event) -> str:
    """Return the key under which an event can be in a journal once."""
    match event:
        case Answered():
            return event.key
        case Started():
            return "start"
        case Cancelled():
            return "cancel"
        case Resumed():
            return "resume"
        case Replanned():
            return "plan"
        case Rewound():
            return "rewind"


def event_to_json(event: Event) -> Json:
    """Return an event as a JSON value."""
    told: dict[str, Json]
    match event:
        case Answered():
            return {"is": "answered", "key": event.key, "answer": event.answer}
        case Started():
            told = {"is": "started", "run": event.run, "entry": event.entry, "inputs": event.inputs}
            return told if event.machine == 1 else {**told, "machine": event.machine}
        case Cancelled():
            return {"is": "cancelled", "reason": event.reason}
        case Resumed():
            told = {"kept": list(event.kept), "consented": list(event.consented)}
            return {"is": "resumed", **told, "checkpoint": event.checkpoint}
        case Replanned():
            asked: dict[str, Json] = {"again": list(event.again), "signature": event.signature}
            asked |= {"inputs": dict(event.inputs)} if event.inputs else {}
            asked |= {} if event.machine == 1 else {"machine": event.machine}
            return {"is": "replanned", "digest": event.digest, **asked, "plan": event.plan}
        case Rewound():
            return {"is": "rewound", "to": event.to}


_SHALLOW = 500
"""Brackets with which no text is nested too deeply to be read."""


def dump_event(event: Event) -> str:
    """Return an event as readable JSON; raise `TypeError` or `ValueError` for an answer that is no JSON."""
    try:
        body = _ENCODE(event_to_json(event))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if body.count("[") + body.count("{") > _SHALLOW:
        load_event(body)
    return body


def add_times(body: str, times: EventTimes) -> str:
    """Return an event as JSON with its times beside it, which whoever loads the event leaves alone."""
    begun = "" if times.begun is None else f',"begun":{times.begun}'
    at = "" if times.at is None else f',"at":{times.at}'
    return f"{body[:-1]}{begun}{at}}}"


def strip_times(times: Sequence[EventTimes]) -> tuple[EventTimes, ...]:
    """Return the times of events, nothing where none of them is known."""
    return tuple(times) if any(each != UNTIMED for each in times) else ()


def load_event(text: str) -> Event:
    """Return the event that was written as a text; raise `TypeError` or `ValueError` for any other text."""
    return load_timed_event(text)[0]


def load_timed_event(text: str) -> tuple[Event, EventTimes]:
    """Return an event and its times, as `load_event` does; times that are none are not known."""
    try:
        given = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    known = object_of(given)
    return _read_event(given), EventTimes(_read_time(known.get("at")), _read_time(known.get("begun")))


def _read_time(given: Json) -> int | None:
    return given if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < _LATEST else None


_LATEST = 1 << 63


def _read_event(given: Json) -> Event:
    match given:
        case {"is": "answered", "key": str(key), "answer": answer}:
            return Answered(key, answer)
        case {"is": "started", "run": str(run), "entry": str() | None as entry, "inputs": dict(inputs)}:
            return Started(run, entry, object_of(inputs), _read_machine(object_of(given)))
        case {"is": "cancelled", "reason": str(reason)}:
            return Cancelled(reason)
        case {"is": "resumed", "kept": list(kept), "consented": list(consented), "checkpoint": str() | None as saved}:
            return Resumed(_names(kept), _names(consented), saved)
        case {"is": "rewound", "to": int(to)} if to is not True and to > 0:
            return Rewound(to)
        case {"is": "replanned"}:
            return _read_change({"signature": None, "inputs": {}, **object_of(given)})
        case _:
            raise ValueError("it is not an event")


def _read_machine(given: Object) -> int:
    """Return the version of the machine with which a run begins or continues; older versions wrote none."""
    machine = given.get("machine", 1)
    if not isinstance(machine, int) or isinstance(machine, bool) or machine < 1:
        raise ValueError("it is not an event")
    if machine > MACHINE:
        told = f"the run has version {machine} of the machine, and this is version {MACHINE}"
        raise JournalError(Reason.UNUSABLE, f"{told}; a later stagec can resume it")
    return machine


def _read_change(given: Object) -> Replanned:
    """Return a change of the plan; older versions wrote no inputs, and no version of the machine."""
    match given:
        case {
            "digest": str(digest),
            "plan": str(plan),
            "again": list(again),
            "signature": str() | None as signature,
            "inputs": dict(inputs),
        }:
            named, machine = _names(again), _read_machine(object_of(given))
            return Replanned(digest, _check_text(plan, digest), named, signature, object_of(inputs), machine)
        case _:
            raise ValueError("it is not an event")


def _check_text(plan: str, digest: str) -> str:
    """Return the text of a plan that has a digest; raise `ValueError` for any other text."""
    with suppress(PlanError, UnicodeEncodeError):
        if read_frame(plan.encode())[0] == digest:
            return plan
    raise ValueError("its plan is not what was written")


def _names(given: list[Json]) -> tuple[str, ...]:
    names = tuple(each for each in given if isinstance(each, str))
    if len(names) < len(given):
        raise ValueError("it is not an event")
    return names
