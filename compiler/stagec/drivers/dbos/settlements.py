"""What a segment is given of its run, and how the run stands when the segment is over."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Object
from stagec.core.value import NOTHING, value
from stagec.drivers.dbos.run_records import RunPhase, RunRecord
from stagec.drivers.messages import RunMessage
from stagec.runtime.exchange import Replanned


@value
class Settlement:
    """How a run stands when a segment of it is over.

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
class TakenUp:
    """A run that is to go on: its row, its signals, and the event with which its plan is to change, if any."""

    record: RunRecord
    sent: tuple[RunMessage, ...] = ()
    change: Replanned | None = None

    def is_in(self, segment: int) -> bool:
        """Tell whether it is to be executed in a segment."""
        return (self.record.segment, self.record.phase) == (segment, RunPhase.ACTIVE)


@value
class CourseChange:
    """The event with which a run goes on under another plan, and the segment to which the run had come for it."""

    event: Replanned
    segment: int
