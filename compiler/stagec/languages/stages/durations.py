"""Waits, deadlines and attempts of stages and runs: how long they last, how many there are, and which cannot hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from heapq import heappop, heappush

from stagec.core.canonical import MOST, to_count
from stagec.core.place import Place
from stagec.core.value import value
from stagec.core.words import format_duration
from stagec.ir.plan.gate import Backoff, Retry
from stagec.languages.stages.document import Case, Pipeline, Stage, WrittenDuration

EXCEEDED = "deadline-exceeded"
"""The reason of a result that its deadline made."""
LONGEST = 365 * 24 * 60 * 60 * 1000
"""Milliseconds of the longest wait and the longest deadline: nobody means a longer one."""


class DurationError(StrEnum):
    """Why a wait or a deadline cannot hold as it is written."""

    UNREADABLE = "unreadable"
    """It says no duration."""
    NOTHING = "nothing"
    """It lasts no time."""
    LONG = "long"
    END = "end"
    """The case of the wait ends the run, so nothing begins afterwards."""
    LATE = "late"
    """The run ends before the deadline passes."""
    HASTY = "hasty"
    """The deadline passes before a second attempt begins."""
    WAITING = "waiting"
    """The run ends before the wait of a case does."""
    TOGETHER = "together"
    """The run ends before the wait of a case does, which other waits always precede."""


@value
class DeadlineMistake:
    """A wrong deadline, or a wait beyond it: the reason, the place, the text, and the compared value, if any."""

    error: DurationError
    at: Place
    text: str
    other: str = ""
    other_at: Place | None = None


def _find_length_error(written: WrittenDuration) -> DurationError | None:
    length = written.milliseconds
    if length is None:
        return DurationError.UNREADABLE
    return DurationError.NOTHING if not length else DurationError.LONG if length > LONGEST else None


def find_wait_error(case: Case) -> DurationError | None:
    """Return why a case cannot wait as it says; None if it can, or does not wait."""
    if case.wait is None:
        return None
    error = _find_length_error(case.wait)
    if error is not DurationError.UNREADABLE and not case.stages and case.is_whole:
        return DurationError.END
    return error


def read_deadline(written: WrittenDuration | None) -> int:
    """Return the milliseconds of a deadline; 0 for none, and for one that cannot be."""
    return (written.milliseconds or 0) if written is not None and _find_length_error(written) is None else 0


def find_deadline_mistakes(pipeline: Pipeline) -> Iterator[DeadlineMistake]:
    """Yield the deadlines of a pipeline and its stages that cannot hold, and the waits that outlast the run."""
    if pipeline.deadline is not None:
        error = _find_length_error(pipeline.deadline)
        if error is not None:
            yield DeadlineMistake(error, pipeline.deadline.at, pipeline.deadline.text)
    for stage in pipeline.by_id.values():
        if stage.conduct.deadline is not None and stage.inner is None:
            yield from _find_mistakes_of_stage(pipeline, stage, stage.conduct.deadline)
    if pipeline.deadline is not None and (most := read_deadline(pipeline.deadline)):
        yield from _find_long_waits(pipeline, pipeline.deadline, most)


def _find_long_waits(pipeline: Pipeline, whole: WrittenDuration, most: int) -> Iterator[DeadlineMistake]:
    """Yield the waits that outlast a run, alone or together with those before them."""
    begun = _find_first_starts(pipeline)
    for stage in pipeline.by_id.values():
        before = begun.get(stage.name, 0)
        waits = (case.wait for case in stage.conduct.cases if case.wait is not None)
        for wait in (each for each in waits if before < most <= before + _measure(each)):
            if _measure(wait) >= most:
                yield DeadlineMistake(DurationError.WAITING, wait.at, wait.text, whole.text, whole.at)
            else:
                together = format_duration(before + _measure(wait))
                yield DeadlineMistake(DurationError.TOGETHER, wait.at, together, whole.text, whole.at)


def _measure(wait: WrittenDuration | None) -> int:
    """Return the milliseconds of a wait; 0 for none, and for one that cannot be."""
    length = 0 if wait is None else wait.milliseconds or 0
    return length if length <= LONGEST else 0


def _find_first_starts(pipeline: Pipeline) -> dict[str, int]:
    """Return how many milliseconds of waits precede each stage at least, on the way with the fewest."""
    first: dict[str, int] = {}
    waiting = [(0, pipeline.entry.name)] if pipeline.entry is not None else []
    while waiting:
        begun, name = heappop(waiting)
        if name in first or name not in pipeline.by_id:
            continue
        first[name] = begun
        for case in pipeline.by_id[name].conduct.cases:
            for each in case.targets:
                heappush(waiting, (begun + _measure(case.wait), each.name))
    return first


def _find_mistakes_of_stage(pipeline: Pipeline, stage: Stage, written: WrittenDuration) -> Iterator[DeadlineMistake]:
    error = _find_length_error(written)
    if error is not None:
        yield DeadlineMistake(error, written.at, written.text)
        return
    length, whole = read_deadline(written), pipeline.deadline
    if whole is not None and 0 < read_deadline(whole) <= length:
        yield DeadlineMistake(DurationError.LATE, written.at, written.text, whole.text, whole.at)
    tries = retry(stage)
    if tries is not None and tries.attempts > 1 and tries.backoff.milliseconds >= length:
        said = f"{tries.backoff.kind}:{tries.backoff.milliseconds}"
        at = stage.at / "retryPolicy"
        yield DeadlineMistake(DurationError.HASTY, written.at, written.text, said, at)


def can_exceed(stage: Stage) -> bool:
    """Tell whether a result can have the reason of a deadline: it has one, or a check or a callable says the same."""
    conduct = stage.conduct
    said = any(check.reason == EXCEEDED for check in conduct.checks)
    return bool(conduct.deadline is not None or conduct.hooks or said)


_BACKOFF = re.compile(r"(?P<kind>fixed|exponential):0*(?P<milliseconds>[0-9]+)")
_DIGITS = len(str(MOST))


def retry(stage: Stage) -> Retry | None:
    """Return how often a stage may be tried and how long to wait, None if it does not say."""
    given = stage.members.get("retryPolicy")
    if not isinstance(given, dict):
        return None
    # how long to wait; one that is not known does not wait
    said = given.get("backoff")
    found = _BACKOFF.fullmatch(said) if isinstance(said, str) else None
    if found is None:
        return Retry(to_count(given.get("maxAttempts")) or 1, Backoff())
    digits = found["milliseconds"]
    return Retry(
        to_count(given.get("maxAttempts")) or 1,
        Backoff(found["kind"], MOST if len(digits) > _DIGITS else min(int(digits), MOST)),
    )
