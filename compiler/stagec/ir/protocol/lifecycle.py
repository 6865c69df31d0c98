"""The life of a stage: its eight statuses, what happens to it, and the one table of transitions."""

from __future__ import annotations

from enum import StrEnum

from stagec.core.value import value


class StageStatus(StrEnum):
    """The status of a stage in a run."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    COMPLETED = "COMPLETED"
    INTERRUPTING = "INTERRUPTING"
    """A signal was sent, and the process is not gone yet. Whatever its exit status is, the stage is interrupted."""
    INTERRUPTED = "INTERRUPTED"
    FAILED = "FAILED"
    RESUMABLE = "RESUMABLE"
    BLOCKED = "BLOCKED"


class StageEvent(StrEnum):
    """An event of a stage."""

    START = "start"
    """All that it depends on is completed, and its process begins."""
    SUCCESS = "success"
    FAILURE = "failure"
    HARD_TIMEOUT = "watchdog_hard_timeout"
    ABORT = "abort"
    PROCESS_EXITED = "process_exited"
    """The whole process group is gone."""
    CHECKPOINT_VALID = "checkpoint_valid"
    """Each stage that it depends on, directly or not, has a valid checkpoint, or it depends on none."""
    CHECKPOINT_NONE = "checkpoint_none"
    RETRY_REFUSED = "retry_refused"
    """It is not retryable, and nobody has consented to run it again."""
    DEPENDENCY_BLOCKED = "dependency_blocked"
    """A stage that it depends on ended otherwise than as completed, for good."""
    RESUME = "resume"
    RESET = "reset"
    """Somebody resets it: it can start again."""


_S, _E = StageStatus, StageEvent
STAGE_CHANGES = {
    # the nine of the protocol
    (_S.PENDING, _E.START): _S.RUNNING,
    (_S.RUNNING, _E.SUCCESS): _S.COMPLETED,
    (_S.RUNNING, _E.HARD_TIMEOUT): _S.INTERRUPTING,
    (_S.RUNNING, _E.ABORT): _S.INTERRUPTING,
    (_S.RUNNING, _E.FAILURE): _S.FAILED,
    (_S.INTERRUPTING, _E.PROCESS_EXITED): _S.INTERRUPTED,
    (_S.INTERRUPTED, _E.CHECKPOINT_VALID): _S.RESUMABLE,
    (_S.FAILED, _E.CHECKPOINT_VALID): _S.RESUMABLE,
    (_S.FAILED, _E.CHECKPOINT_NONE): _S.BLOCKED,
    # without these an interrupted stage would have no way on, and nothing could be resumed
    (_S.INTERRUPTED, _E.CHECKPOINT_NONE): _S.BLOCKED,
    (_S.PENDING, _E.DEPENDENCY_BLOCKED): _S.BLOCKED,
    (_S.RESUMABLE, _E.RESUME): _S.RUNNING,
    (_S.BLOCKED, _E.RESET): _S.PENDING,
    (_S.FAILED, _E.RETRY_REFUSED): _S.BLOCKED,
    (_S.INTERRUPTED, _E.RETRY_REFUSED): _S.BLOCKED,
}
"""Every legal transition; what is not here does not happen."""


def follow_event(status: StageStatus, event: StageEvent) -> StageStatus:
    """Return the status of a stage after an event.

    Raises `ValueError` for an event that cannot happen to such a stage.
    """
    found = STAGE_CHANGES.get((status, event))
    if found is None:
        raise ValueError(f"no stage that is {status} can meet the event {event}")
    return found


DEFAULT = 240
"""Seconds for a stage that states no duration (the protocol's table of default values)."""
SHORTEST = 30
LONGEST = 600
"""Seconds that a stage may ask for (the protocol's JSON Schema); no hard limit is later (the absolute maximum)."""
GRACE = 30
"""Seconds between the soft and the hard limit (the protocol's table of default values)."""
TERMINATE_AFTER = 5
KILL_AFTER = 3
"""Seconds from SIGINT to SIGTERM and from there to SIGKILL.

The protocol gives no times; these are what most pages about its programs give.
"""


class Tier(StrEnum):
    """How long a stage is, by the protocol; tiers that share an end in its table meet at the shorter one."""

    QUICK = "Quick"
    STANDARD = "Standard"
    EXTENDED = "Extended"
    MAXIMUM = "Maximum"


LAST_OF_TIER = {Tier.QUICK: 60, Tier.STANDARD: 240, Tier.EXTENDED: 480, Tier.MAXIMUM: LONGEST}
"""The longest duration of each tier, in seconds."""


@value
class WatchTimes:
    """When the watchdog acts, in milliseconds from the start: a warning, SIGINT, SIGTERM and SIGKILL."""

    warn: int
    interrupt: int
    terminate: int
    kill: int


def tier_of(duration: float) -> Tier:
    """Return the tier of a duration in seconds."""
    return next((tier for tier, last in LAST_OF_TIER.items() if duration <= last), Tier.MAXIMUM)


def grace_of(duration: float) -> float:
    """Return the seconds between the soft and the hard limit: fewer where the absolute maximum comes first."""
    return max(0, min(GRACE, LONGEST - duration))


def watch_times(duration: float) -> WatchTimes:
    """Return when the watchdog acts on a stage that may last for so many seconds, at most the absolute maximum."""
    soft = round(min(duration, LONGEST) * 1000)
    hard = min(soft + GRACE * 1000, LONGEST * 1000)
    terminate = hard + TERMINATE_AFTER * 1000
    return WatchTimes(soft, hard, terminate, terminate + KILL_AFTER * 1000)
