"""Waits before the stages of a case: whether they can be as they are written."""

from collections.abc import Iterator

from stagec.check.rules.stages import routes, rule
from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.languages.stages.document import Pipeline, WrittenDuration
from stagec.languages.stages.waits import WaitError, find_wait_error


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
            yield Finding(case.wait.at, _tell(case.wait, error), fix=_mend(case.wait, error))


def _tell(wait: WrittenDuration, error: WaitError) -> str:
    text = quote(wait.text)
    match error:
        case WaitError.UNREADABLE:
            return f"{text} is no duration; write a number with a unit, such as '30s', '10m', '2h' or '1d'"
        case WaitError.NOTHING:
            return f"{text} is no time to wait; write a duration above zero, such as '10m', or remove 'wait'"
        case WaitError.LONG:
            return f"{text} is longer than a year; the longest wait is '365d'"
        case WaitError.END:
            return f"the case ends the run, so nothing begins after {text}; remove 'wait'"


def _mend(wait: WrittenDuration, error: WaitError) -> Fix | None:
    if error not in {WaitError.NOTHING, WaitError.END}:
        return None
    return Fix("remove 'wait'", (Edit(Change.REMOVE, wait.at),), is_safe=False)
