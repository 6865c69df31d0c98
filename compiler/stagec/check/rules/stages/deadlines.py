"""Deadlines of stages and of runs: whether they can hold as they are written."""

from collections.abc import Iterator

from stagec.check.rules.stages import rule
from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.languages.stages.deadlines import DeadlineError, DeadlineMistake, find_deadline_mistakes
from stagec.languages.stages.document import Pipeline


@rule(since="0.1", origin=("rulings:pipelines",))
def stg399_impossible_deadline(pipeline: Pipeline) -> Iterator[Finding]:
    """A deadline cannot hold as it is written, or something never happens because of it.

    ## Why this matters
    A `deadline` is the time that a stage has for its result, a `runDeadline` the time that a whole run has. Each is a
    number and a unit: `30s`, `10m`, `2h` or `1d`. Of anything else nobody can tell how long it is. No time, or more
    than a year, is a slip. A stage's deadline never passes if the run ends before it. A second attempt never begins if
    the stage's deadline passes before. What follows a wait never begins if the run ends before it.

    ## How to fix
    Write a number above zero with one of the units. Give the run more time than its stages and waits, and a stage more
    time than it waits before its second attempt.
    """
    for each in find_deadline_mistakes(pipeline) if pipeline.is_declared else ():
        related = () if each.other_at is None else (Related(each.other_at, "compared with this"),)
        yield Finding(each.at, _tell(each), related, _mend(each))


def _tell(mistake: DeadlineMistake) -> str:
    text, other = quote(mistake.text), quote(mistake.other)
    match mistake.error:
        case DeadlineError.UNREADABLE:
            return f"{text} is no duration; write a number with a unit, such as '30s', '10m', '2h' or '1d'"
        case DeadlineError.NOTHING:
            return f"{text} leaves no time; write a duration above zero, such as '10m', or remove the deadline"
        case DeadlineError.LONG:
            return f"{text} is longer than a year; the longest deadline is '365d'"
        case DeadlineError.LATE:
            return f"the deadline {text} never passes: the run ends after {other} at the latest"
        case DeadlineError.HASTY:
            return f"no second attempt ever begins: the deadline {text} passes during the wait before it, {other}"
        case DeadlineError.WAITING:
            return f"the stages of the case never begin: the run ends after {other}, and the case waits {text}"


def _mend(mistake: DeadlineMistake) -> Fix | None:
    if mistake.error is not DeadlineError.NOTHING:
        return None
    return Fix("remove the deadline", (Edit(Change.REMOVE, mistake.at),), is_safe=False)
