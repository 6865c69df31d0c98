"""Run a plan from the bytes of its file to its end, for programs that use stagec as a library."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from stagec.drivers.history import JournalError, Reason
from stagec.drivers.local.drive import RunSession, drive, proceed
from stagec.drivers.local.journal import Journal, create, open_journal
from stagec.drivers.requests import World
from stagec.runtime.exchange import Event, Started
from stagec.runtime.program import Program, load
from stagec.runtime.state import State


def run(plan: bytes, world: World, started: Started, journal: Path | None = None) -> State:
    """Run a plan and return the state in which the run has ended.

    With the path of a journal, what happens is kept there, and a run that is there already is resumed; `started` counts
    when there is none. Raises `stagec.plan.PlanError` for a plan that is refused, `JournalError` for a journal that
    cannot be used, and whatever the world raises; the run can then be resumed.
    """
    program = load(plan)
    if journal is None:
        return proceed(RunSession(program, _EventCount(), world), State(), started)
    with closing(_open_journal(journal, plan, program)) as kept:
        return drive(program, kept, world, None if kept.history.events else started)


def _open_journal(path: Path, plan: bytes, program: Program) -> Journal:
    try:
        found = open_journal(path)
    except JournalError as error:
        if error.reason is not Reason.MISSING:
            raise
        return create(path, plan, program.digest)
    if found.history.latest[1] != program.digest:
        found.close()
        raise JournalError(Reason.TAKEN, "its run belongs to another plan")
    return found


class _EventCount:
    """Keeps nothing but the number of events."""

    def __init__(self) -> None:
        self.count = 0
        self.waits = False

    def append(self, _event: Event, _body: str, /) -> None:
        """Count an event."""
        self.count += 1

    def take_digest(self, step_digest: str, /) -> None:
        """Forget a step digest."""

    def seal(self) -> None:
        """Keep nothing."""
