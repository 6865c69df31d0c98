"""A process that drives runs, each in a child that says in which moment it is, and can be told to stay in one.

A line of standard input is a command: `{"flow": …, "path": …, "stay": moment, "at": number of the event}`. Lines of
standard output: `born PID`, what the child says, and `over STATUS` when it is gone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import NamedTuple

from crash.flows import digest, flow, program

from stagec.core.json import Json
from stagec.runtime.drivers.local import (
    Journal,
    JournalError,
    Reason,
    RunSession,
    World,
    create,
    open_journal,
    proceed,
    restore,
)
from stagec.runtime.machine import Effect, Event, StepResult


def say(*words: object) -> None:
    """Write a line at once: nothing that was said is lost when the process is killed."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class Stay(NamedTuple):
    """The moment in which a process stays until it is killed: a word, and the number of the event."""

    moment: str = ""
    at: int = -1

    def reached(self, moment: str, at: int, *more: object) -> None:
        """Say that a moment has come, and stay in it if it is the one."""
        say(moment, at, *more)
        while (moment, at) == self:
            signal.pause()


class SaidJournal:
    """A journal that says when it is written to."""

    def __init__(self, journal: Journal, stay: Stay) -> None:
        self._journal = journal
        self._stay = stay

    @property
    def count(self) -> int:
        """How many events it holds."""
        return self._journal.count

    @property
    def waits(self) -> bool:
        """Whether something else is done while an event is written."""
        return self._journal.waits

    def append(self, event: Event, body: str, /) -> None:
        """Write an event."""
        self._stay.reached("appending", self.count)
        say("committing", self.count)
        self._journal.append(event, body)

    def take_digest(self, step_digest: str, /) -> None:
        """Take the step digest of the last event."""
        self._journal.take_digest(step_digest)

    def seal(self) -> None:
        """Write the last step digest."""
        self._journal.seal()

    def observe(self, _event: Event, step: StepResult) -> None:
        """Say that an event has been written, and where the run stands."""
        self._stay.reached("kept", self.count - 1, digest(step.state))


class SaidWorld:
    """A world that says when it is asked and when it has answered."""

    def __init__(self, world: World, journal: SaidJournal, stay: Stay) -> None:
        self._world = world
        self._journal = journal
        self._stay = stay

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that one request is made after the other: each moment is one of the whole process."""
        return False

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        self._stay.reached("asking", self._journal.count, effect.key)
        answer = self._world.answer(effect)
        self._stay.reached("answered", self._journal.count)
        return answer


def go_on(name: str, path: Path, stay: Stay) -> None:
    """Begin a run, or go on with it, until it has ended."""
    given = flow(name)
    try:
        journal = open_journal(path)
    except JournalError as error:
        if error.reason is not Reason.MISSING:
            say("refused", error.reason)
            return
        journal = create(path, given.plan, program(name).digest)
    say("open", journal.count)
    said = SaidJournal(journal, stay)
    sitting = RunSession(program(name), said, SaidWorld(given.world, said, stay), said.observe)
    state = restore(program(name), journal.history)
    state = proceed(sitting, state, None if journal.count else given.started)
    say("ended", journal.count, digest(state))
    journal.close()


def main() -> None:
    """Carry commands out, one at a time."""
    for line in sys.stdin:
        command = json.loads(line)
        program(command["flow"])  # loaded once, for all children
        child = os.fork()
        if child == 0:
            say("born", os.getpid())
            go_on(command["flow"], Path(command["path"]), Stay(command["stay"], command["at"]))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        say("over", os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
