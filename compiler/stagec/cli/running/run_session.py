"""Execute a run until it ends, is interrupted, or the world has no answer."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from shlex import join
from threading import current_thread, main_thread

from stagec.cli.running.options import FOLDER
from stagec.cli.running.other_worlds import Memory
from stagec.cli.running.report import RunReporter, label_request
from stagec.cli.running.runs import explain_journal_error, name_of
from stagec.cli.running.stages import find_refused, has_stages, is_resumable
from stagec.cli.streams import find_canvas, say, show_progress
from stagec.core.collector import start_collector
from stagec.core.failure import Exit, Failure
from stagec.core.interrupts import DeferredRequests
from stagec.core.json import Json
from stagec.core.terminal import columns
from stagec.core.value import value
from stagec.core.words import visible
from stagec.drivers.local import Inbox, Journal, JournalError, RunSession, proceed, restore
from stagec.plan.node import Outcome
from stagec.runtime import Cancelled, Effect, Event, Program, State, StepResult
from stagec.runtime.exchange import Confirm, Grant, Hook, Judge, Run, Shell, Wait
from stagec.world.budget import BudgetedWorld


@value
class RunSetup:
    """What executing a run takes: its file, its journal and program, the world that answers, and the reporter.

    `most` is how many requests may be under way at the same time, if those are fewer than the plan allows.
    """

    path: Path
    journal: Journal
    program: Program
    world: BudgetedWorld
    reporter: RunReporter
    most: int | None = None


def execute(setup: RunSetup, event: Event | None) -> Exit:
    """Execute a run, beginning with an event if one has just happened; return the exit status."""
    start_collector()
    inbox = Inbox() if has_stages(setup.program.plan) else None
    try:
        with _hold_requests(inbox):
            state = _proceed(setup, event, inbox)
    except KeyboardInterrupt:
        setup.reporter.close()
        say(f"stagec: {_describe_resumption(setup.path)}")
        raise
    except Failure as failure:
        raise Failure(f"{failure}\n{_describe_resumption(setup.path)}", failure.status) from failure
    except JournalError as error:
        raise explain_journal_error(name_of(setup.path), error) from error
    finally:
        setup.reporter.close()
        setup.journal.close()
    _conclude(setup, state)
    return choose_status(state)


def _conclude(setup: RunSetup, state: State) -> None:
    """Report how the run has ended, and how a run of stages can be resumed that has not ended well."""
    setup.reporter.conclude(state)
    if has_stages(setup.program.plan) and state.ended is not Outcome.DONE and is_resumable(state):
        consent = [each for stage in find_refused(setup.program.plan, state) for each in ("--consent", stage)]
        say(f"stagec: {_describe_resumption(setup.path, *consent)}")


def _hold_requests(inbox: Inbox | None) -> AbstractContextManager[object]:
    """Let the first request to end this process cancel a run of stages: what runs is interrupted, and preserved."""
    return nullcontext() if inbox is None else DeferredRequests(lambda: inbox.put(Cancelled("interrupted")))


def _proceed(setup: RunSetup, event: Event | None, inbox: Inbox | None) -> State:
    memory = Memory(setup.world)

    def recall(event: Event, step: StepResult) -> None:
        memory.observe(event, step)
        setup.reporter.recall(event, step)

    state = restore(setup.program, setup.journal.history, recall)
    world = WorldWithProgress(setup.world) if inbox is None else setup.world
    session = RunSession(setup.program, setup.journal, world, setup.reporter.observe, inbox, setup.most)
    return proceed(session, state, event)


def choose_status(state: State) -> Exit:
    """Return the exit status for the end of a run."""
    return Exit.CLEAN if state.ended is Outcome.DONE else Exit.FINDINGS


def _describe_resumption(path: Path, *options: str) -> str:
    """Return a sentence with the command that resumes a run."""
    folder = () if path.parent == FOLDER else ("--runs", str(path.parent))
    return f"the run is kept; to resume it: {join(('stagec', 'resume', name_of(path), *folder, *options))}"


class WorldWithProgress:
    """A world that says on a terminal who takes so long, unless several do."""

    def __init__(self, world: BudgetedWorld) -> None:
        self._world = world
        self.overlaps, self.cancel = world.overlaps, world.cancel

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        if current_thread() is not main_thread() or isinstance(effect, Grant | Confirm | Judge):
            return self._world.answer(effect)
        with show_progress(_describe_wait(effect) if sys.stderr.isatty() else ""):
            return self._world.answer(effect)


def _describe_wait(effect: Effect) -> str:
    """Return who takes so long, on one line of a terminal: a longer one could not be wiped out again."""
    paper = find_canvas(sys.stderr, os.environ)
    doing, name = f"{_name_activity(effect)} …", label_request(effect.key)[:_LONGEST]
    while name and paper.width and columns(visible(f"{name} {doing}", paper.encoding)) >= paper.width:
        name = name[:-1]
    return visible(f"{name} {doing}", paper.encoding)


_LONGEST = 50
"""Characters of the name of an execution that are shown at most."""


def _name_activity(effect: Effect) -> str:
    match effect:
        case Run() | Shell():
            return "runs a command"
        case Hook():
            return "calls a hook"
        case Wait():
            return f"waits {effect.milliseconds / 1000:g} s"
        case _:
            return "waits for an answer"
