"""Execute a run until it ends, is interrupted, or the world has no answer."""

from __future__ import annotations

import os
import sys
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from shlex import join
from threading import current_thread, main_thread

from stagec.cli.running.options import words_for
from stagec.cli.running.report import RunReporter, choose_status
from stagec.cli.running.runs import explain_journal_error, name_of
from stagec.cli.running.stages import find_refused, has_stages, is_resumable
from stagec.cli.running.world_sources import Memory
from stagec.cli.running.worlds import make_closed_world
from stagec.cli.streams import find_canvas, say, show_progress
from stagec.core.clock import LATEST, read_clock
from stagec.core.collector import start_collector
from stagec.core.failure import Exit, Failure
from stagec.core.interrupts import DeferredRequests, EndRequests
from stagec.core.json import Json
from stagec.core.secrets import Redactor
from stagec.core.terminal import columns
from stagec.core.value import value
from stagec.core.words import visible
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.following import Interruption
from stagec.runtime.drivers.local import (
    Inbox,
    Journal,
    JournalError,
    Observer,
    RunSession,
    open_journal,
    proceed,
    restore,
)
from stagec.runtime.drivers.local.drive import forget_interruption, keep_interruption
from stagec.runtime.drivers.local.mailbox import MessageWatcher
from stagec.runtime.drivers.local.request_descriptions import label_request
from stagec.runtime.drivers.messages import MessageKind, RunMessage
from stagec.runtime.drivers.requests import Timers
from stagec.runtime.machine import Cancelled, Effect, Event, Program, State, StepResult
from stagec.runtime.machine.exchange import Confirm, Grant, Hook, Judge, Run, Shell, Wait
from stagec.runtime.world.budget import BudgetedWorld, BudgetReached
from stagec.runtime.world.models.port import ProviderOutage


@value
class RunSetup:
    """The setup of a run: its file, its journal and program, the world that answers, the reporter and the mail.

    `most` is how many requests may be under way at the same time, if those are fewer than the plan allows.
    """

    path: Path
    journal: Journal
    program: Program
    world: BudgetedWorld
    reporter: RunReporter
    mail: MessageWatcher
    most: int | None = None

    def conclude(self, state: State) -> None:
        """Report how the run has ended, and how a run of stages can be resumed that has not ended well."""
        self.mail.conclude()
        self.reporter.conclude(state)
        if has_stages(self.program.plan) and state.ended is not Outcome.DONE and is_resumable(state):
            consent = [each for stage in find_refused(self.program.plan, state) for each in ("--consent", stage)]
            say(f"stagec: {_describe_resumption(self.path, *consent)}")


class Steering:
    """Obeys messages that ask to pause or to cancel a run.

    A run of stages is cancelled by its inbox, because its processes end in order; any other one ends as by Ctrl-C, and
    is cancelled after that.
    """

    def __init__(self, inbox: Inbox | None, requests: EndRequests) -> None:
        self.inbox, self._requests = inbox, requests
        self.paused_by = self.cancelled_by = ""

    def obey(self, message: RunMessage) -> None:
        """Let the run end; in any thread."""
        if message.kind is MessageKind.PAUSE:
            self.paused_by = message.by
        elif self.inbox is not None:
            self.inbox.put(Cancelled())
            return
        else:
            self.cancelled_by = message.by
        self._requests.send()


class Audience:
    """Hears each event of a run once, also when its journal is opened again: the reporter, the mail, and the world."""

    def __init__(self, setup: RunSetup) -> None:
        self._setup = setup
        self._memory = Memory(setup.world)
        self.parts = self._memory.parts
        self._count = 0

    def recall(self, event: Event, step: StepResult) -> None:
        """Take note of an event of an earlier session."""
        self._count += 1
        self._memory.observe(event, step)
        self._setup.reporter.recall(event, step)
        self._setup.mail.observe(event, step)

    def observe(self, event: Event, step: StepResult) -> None:
        """Report an event that has just happened."""
        self._count += 1
        self._setup.mail.observe(event, step)
        self._setup.reporter.observe(event, step)

    def catch_up(self) -> Observer:
        """Return an observer of the whole history that passes on the new events."""
        known = iter(range(self._count))

        def observe(event: Event, step: StepResult) -> None:
            if next(known, None) is None:
                self.observe(event, step)

        return observe


def execute(setup: RunSetup, event: Event | None) -> Exit:
    """Execute a run, beginning with an event if one has just happened; return the exit status."""
    start_collector()
    forget_interruption(setup.path)
    requests = EndRequests()
    try:
        with requests:
            inbox = Inbox() if has_stages(setup.program.plan) else None
            state = _execute(setup, event, Steering(inbox, requests))
            requests.ignore()
    except ProviderOutage as outage:
        raise _interrupt(setup.path, outage) from outage
    except Failure as failure:
        keep_interruption(setup.path, Interruption(Redactor(os.environ).redact_output(str(failure))))
        used_up = failure.options if isinstance(failure, BudgetReached) else ()  # the run is resumed with more of it
        raise Failure(f"{failure}\n{_describe_resumption(setup.path, *used_up)}", failure.status) from failure
    except JournalError as error:
        raise explain_journal_error(name_of(setup.path), error) from error
    finally:
        setup.reporter.close()
        setup.journal.close()
    setup.conclude(state)
    return choose_status(state)


def _interrupt(path: Path, outage: ProviderOutage) -> Failure:
    """Keep why a run is interrupted, and return the failure that says when to resume it."""
    seconds = outage.find_rest()
    interruption = Interruption(str(outage), (read_clock() or LATEST) / 1e9 + seconds)
    keep_interruption(path, interruption)
    told = f"{interruption.sentence}\n{_describe_resumption(path)}; with --wait DURATION it waits for the provider"
    return Failure(told, outage.status)


def _execute(setup: RunSetup, event: Event | None, steering: Steering) -> State:
    audience = Audience(setup)
    try:
        with _hold_requests(steering.inbox), setup.mail.watch(steering.obey):
            timers = Timers()
            state = restore(setup.program, setup.journal.history, audience.recall, timers=timers)
            world = WorldWithProgress(setup.world) if steering.inbox is None else setup.world
            inbox, redactor = steering.inbox, Redactor(os.environ)
            session = RunSession(
                setup.program,
                setup.journal,
                world,
                audience.observe,
                inbox,
                setup.most,
                redactor,
                audience.parts,
                timers,
            )
            return proceed(session, state, event)
    except KeyboardInterrupt:
        setup.reporter.close()
        if steering.cancelled_by:
            say(f"stagec: cancelled, by {steering.cancelled_by}")
            return _cancel(setup, audience)
        paused = f"paused, by {steering.paused_by}: " if steering.paused_by else ""
        if steering.paused_by:
            keep_interruption(setup.path, Interruption(f"paused, by {steering.paused_by}"))
        say(f"stagec: {paused}{_describe_resumption(setup.path)}")
        raise


def _cancel(setup: RunSetup, audience: Audience) -> State:
    """Cancel an interrupted run, wherever the interruption came: its journal decides."""
    setup.journal.close()
    with closing(open_journal(setup.path)) as journal:
        state = restore(setup.program, journal.history, audience.catch_up())
        if state.ended is not None:
            return state
        session = RunSession(setup.program, journal, make_closed_world(), audience.observe)
        return proceed(session, state, Cancelled())


def _hold_requests(inbox: Inbox | None) -> AbstractContextManager[object]:
    """Let the first request to end this process cancel a run of stages: what runs is interrupted, and preserved."""
    return nullcontext() if inbox is None else DeferredRequests(lambda: inbox.put(Cancelled("interrupted")))


def _describe_resumption(path: Path, *options: str) -> str:
    """Return a sentence with the command that resumes a run."""
    return f"the run is kept; to resume it: {join(('stagec', 'resume', *words_for(path), *options))}"


class WorldWithProgress:
    """A world that says on a terminal who takes so long, unless several do."""

    def __init__(self, world: BudgetedWorld) -> None:
        self._world = world
        self.overlaps, self.cancel = world.overlaps, world.cancel

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        if current_thread() is not main_thread() or isinstance(effect, Grant | Confirm | Judge):
            return self._world.answer(effect)
        self._world.admit(effect)  # whoever is asked for more sees no progress
        with show_progress(_describe_wait(effect) if sys.stderr.isatty() else ""):
            return self._world.answer(effect)


def _describe_wait(effect: Effect) -> str:
    """Return the request that takes so long, on one line of a terminal: a longer one could not be wiped out again."""
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
