"""Waits of cases and deadlines of stages and runs: whether they can hold as they are written."""

from collections.abc import Iterator

from stagec.check.rules.stages import routes, rule
from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.languages.stages.document import Pipeline
from stagec.languages.stages.durations import DurationError, find_deadline_mistakes, find_wait_error


@rule(since="0.1", origin=("rulings:pipelines",))
def stg398_impossible_wait(pipeline: Pipeline) -> Iterator[Finding]:
    """A case cannot wait as long as it says.

    ## Why this matters
    `wait` is the time between the end of a stage and the begin of the stages of the case. It is a number and a unit:
    `30s`, `10m`, `2h` or `1d`. Of anything else nobody can tell how long it is. A wait of no length, or of more than a
    year, is a slip. Where the case ends the run, nothing begins after the wait.

    ## How to fix
    Write a number above zero with one of the units. Remove the wait from a case that ends the run.
    """
    for _, case in routes(pipeline):
        error = find_wait_error(case)
        if case.wait is not None and error is not None:
            fix = _remove(case.wait.at, "'wait'") if error in {DurationError.NOTHING, DurationError.END} else None
            yield Finding(case.wait.at, _WAITS[error].format(quote(case.wait.text)), fix=fix)


@rule(since="0.1", origin=("rulings:pipelines",))
def stg399_impossible_deadline(pipeline: Pipeline) -> Iterator[Finding]:
    """A deadline cannot hold as it is written, or something never happens because of it.

    ## Why this matters
    A `deadline` is the time that a stage has for its result, a `runDeadline` the time that a whole run has. Each is a
    number and a unit: `30s`, `10m`, `2h` or `1d`. Of anything else nobody can tell how long it is. No time, or more
    than a year, is a slip. A stage's deadline never passes if the run ends before it. A second attempt never begins if
    the stage's deadline passes before. The stages after a wait never begin if the run ends before,
    also if several waits are too long together.

    ## How to fix
    Write a number above zero with one of the units. Give the run more time than its stages and waits, and a stage more
    time than it waits before its second attempt.
    """
    for each in find_deadline_mistakes(pipeline) if pipeline.is_declared else ():
        related = () if each.other_at is None else (Related(each.other_at, "compared with this"),)
        fix = _remove(each.at, "the deadline") if each.error is DurationError.NOTHING else None
        yield Finding(each.at, _DEADLINES[each.error].format(quote(each.text), quote(each.other)), related, fix)


_UNREADABLE = "{} is no duration; write a number with a unit, such as '30s', '10m', '2h' or '1d'"
_WAITS = {
    DurationError.UNREADABLE: _UNREADABLE,
    DurationError.NOTHING: "{} is no time to wait; write a duration above zero, such as '10m', or remove 'wait'",
    DurationError.LONG: "{} is longer than a year; the longest wait is '365d'",
    DurationError.END: "the case ends the run, so nothing begins after {}; remove 'wait'",
}
_DEADLINES = {
    DurationError.UNREADABLE: _UNREADABLE,
    DurationError.NOTHING: "{} leaves no time; write a duration above zero, such as '10m', or remove the deadline",
    DurationError.LONG: "{} is longer than a year; the longest deadline is '365d'",
    DurationError.LATE: "the deadline {} never passes: the run ends after {} at the latest",
    DurationError.HASTY: "no second attempt ever begins: the deadline {} passes during the wait before it, {}",
    DurationError.WAITING: "the stages of the case never begin: the run ends after {1}, and the case waits {0}",
    DurationError.TOGETHER: "the stages of the case never begin: the run ends after {1}, and this wait ends after {0}",
}


def _remove(at: Place, what: str) -> Fix:
    return Fix(f"remove {what}", (Edit(Change.REMOVE, at),), is_safe=False)
