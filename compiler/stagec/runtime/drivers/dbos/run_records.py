"""The records of a run in a database: its row as a value, and a submission."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from stagec.core.json import Json, Object, object_of
from stagec.core.value import NOTHING, value
from stagec.ir.plan.document import FORMAT
from stagec.runtime.drivers.following import Interruption
from stagec.runtime.drivers.messages import RunMessage
from stagec.runtime.machine.exchange import MACHINE, Answered, Replanned, Started

APPLICATION_VERSION = f"{FORMAT}+machine.{MACHINE}"
"""The segments that a worker takes: those of runs of this format of plans and this machine."""
USUAL_PRIORITY = 100
"""The priority of a run that is given none; 1 comes first."""
USUAL_TENANT = "default"


class RunPhase(StrEnum):
    """The phase of a run: a segment of it is under way or will be, it waits for people or time, or it has ended."""

    ACTIVE = "active"
    WAITING = "waiting"
    PAUSED = "paused"
    INTERRUPTED = "interrupted"
    DONE = "done"
    FAILED = "failed"
    BLOCKED = "blocked"


RESUMABLE = (RunPhase.PAUSED, RunPhase.INTERRUPTED)
"""The phases that somebody has to resume."""
ENDED = (RunPhase.DONE, RunPhase.FAILED, RunPhase.BLOCKED)
"""After what nothing follows."""


@value
class Submission:
    """A run that is to begin: its name, its plan, and with what.

    `scenario` is the JSON of a scenario, `signature` the text of the signature of the plan. `delay` is in
    milliseconds. `prologue` is the JSON of the entries of a run that is taken over: those of its journal but the first.
    `machine` is the version of the machine with which it begins.
    """

    run: str
    plan: bytes
    digest: str
    entry: str | None = None
    inputs: Mapping[str, Json] = NOTHING
    scenario: str | None = None
    signature: str | None = None
    tenant: str = USUAL_TENANT
    priority: int = USUAL_PRIORITY
    delay: int = 0
    prologue: str | None = None
    version: str = APPLICATION_VERSION
    machine: int = MACHINE


@value
class RunRecord:
    """The row of a run. `now` is when it was read; all times are milliseconds by the clock of the database."""

    run: str
    plan: str
    version: str
    tenant: str
    priority: int
    entry: str | None
    inputs: str
    scenario: str | None
    signature: str | None
    prologue: str | None
    phase: RunPhase
    segment: int
    refusals: int
    wake_at: int | None
    due: Mapping[str, int]
    created_at: int
    ended_at: int | None
    reason: str
    digest: str
    summary: Object
    machine: int
    now: int

    @property
    def started(self) -> Started:
        """The event with which it begins."""
        return Started(self.run, self.entry, object_of(json.loads(self.inputs)), self.machine)

    @property
    def rests(self) -> bool:
        """Whether it is interrupted for a time: workers go on with it by themselves, at `wake_at`."""
        return self.phase is RunPhase.INTERRUPTED and self.wake_at is not None

    @property
    def interruption(self) -> Interruption:
        """Why it stands as it does, and when workers go on with it if it is interrupted for a time."""
        return Interruption(self.reason, self.wake_at / 1000 if self.rests and self.wake_at is not None else None)

    @property
    def workflow(self) -> str:
        """The id that its segment has in the engine."""
        return name_segment(self.run, self.segment)


def name_segment(run: str, number: int) -> str:
    """Return the id that a segment of a run has in the engine."""
    return f"{run}/{number}"


def name_child(record: RunRecord, key: str) -> str:
    """Return the id that a request of a run has in the engine, as long as its segment is under way."""
    return f"{key}@{record.segment}"


def make_storable(text: str) -> str:
    """Return a text that every database takes: without NUL and without half characters."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()


def read_row(row: Mapping[Any, Any]) -> RunRecord:
    """Return the value of a row."""
    found: dict[str, Any] = {str(name): each for name, each in row.items()}
    due = object_of(json.loads(found.pop("due")))
    times = {key: each for key, each in due.items() if isinstance(each, int)}
    phase, summary = RunPhase(found.pop("phase")), object_of(json.loads(found.pop("summary")))
    return RunRecord(**found, phase=phase, due=times, summary=summary)


@value
class Settlement:
    """The phase of a run after a segment.

    `due` has the milliseconds until waits are over, by key, `asked` the keys that people can answer. With `delay`, the
    run wakes by itself after so many milliseconds, also one that an outage has interrupted. `goes_on` begins the next
    segment at once. `has_changed` tells that the change of the plan which was sent has been recorded.
    """

    phase: RunPhase
    reason: str = ""
    digest: str = ""
    summary: Object = NOTHING
    due: Mapping[str, int] = NOTHING
    asked: tuple[str, ...] = ()
    delay: int | None = None
    is_refusal: bool = False
    goes_on: bool = False
    has_changed: bool = False

    @property
    def is_interruption(self) -> bool:
        """Whether a person has to look at the run."""
        return self.phase is RunPhase.INTERRUPTED and self.delay is None

    @property
    def is_over(self) -> bool:
        """Whether nothing follows any more."""
        return self.phase in (RunPhase.DONE, RunPhase.FAILED, RunPhase.BLOCKED)


@value
class FoundPart:
    """A part of an answer that another worker has found; `after` is a digest of the parts from which it follows."""

    part: Answered
    after: str


@value
class TakenUp:
    """A run that is to go on: its row, its signals, and the event with which its plan is to change, if any.

    `parts` are those of answers which other workers have found, and of which some may be recorded already.
    """

    record: RunRecord
    sent: tuple[RunMessage, ...] = ()
    change: Replanned | None = None
    parts: tuple[FoundPart, ...] = ()

    def is_in(self, segment: int) -> bool:
        """Tell whether it is to be executed in a segment."""
        return (self.record.segment, self.record.phase) == (segment, RunPhase.ACTIVE)


@value
class CourseChange:
    """The event with which a run goes on under another plan, and the segment to which the run had come for it."""

    event: Replanned
    segment: int
