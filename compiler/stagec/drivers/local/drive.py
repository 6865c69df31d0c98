"""The loop that executes a plan: advance, journal what has happened, ask the world, journal what it answers."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, nullcontext
from functools import partial
from threading import Lock
from typing import Protocol

from stagec.core.clock import read_clock
from stagec.core.failure import Failure
from stagec.core.secrets import Redactor
from stagec.core.value import replace, value
from stagec.drivers.answer_parts import AnswerParts
from stagec.drivers.history import (
    EventTimes,
    History,
    JournalError,
    Reason,
    add_times,
    damage_error,
    dump_event,
    load_event,
)
from stagec.drivers.local.background import Begin, open_background, run_at_once
from stagec.drivers.local.journal import Journal
from stagec.drivers.redaction import redact_event
from stagec.drivers.replay import BranchWalk, advance_history, digest_step, find_difference
from stagec.drivers.requests import Inbox, RequestPool, World, open_pool
from stagec.runtime.advance import advance
from stagec.runtime.exchange import Answered, Event, Replanned, Rewound
from stagec.runtime.program import Program, load
from stagec.runtime.state import State, StepResult

Observer = Callable[[Event, StepResult], None]
"""Is called with every event that is in the journal, and with the step that followed from it."""


def unseen(_event: Event, _step: StepResult) -> None:
    """Observe nothing."""


class EventStore(Protocol):
    """What keeps the events of a run, as a `Journal` does it."""

    @property
    def count(self) -> int:
        """How many events it holds, and the number of the next."""

    @property
    def waits(self) -> bool:
        """Whether keeping an event takes so long that something else is better done meanwhile."""

    def append(self, event: Event, body: str, /) -> None:
        """Keep an event, which is `body` as JSON; the world hears nothing of what follows before this returns."""

    def take_digest(self, step_digest: str, /) -> None:
        """Take the step digest of the last event; it is kept with the next, or by `seal`."""

    def seal(self) -> None:
        """Keep the last step digest: the run has ended."""


@value
class RunSession:
    """One process that executes a run: its program and events, the world that answers, and an observer.

    Where there is an inbox, events that are put into it happen to the run. `most` is how many requests may be under way
    at the same time, if those are fewer than the plan allows. What happens passes the `redactor` before it is written.
    `parts` has those of answers that are not there yet.
    """

    program: Program
    journal: EventStore
    world: World
    observe: Observer = unseen
    inbox: Inbox | None = None
    most: int | None = None
    redactor: Redactor | None = None
    parts: AnswerParts | None = None

    def dump(self, state: State, event: Event) -> str:
        """Return an event as it is written: without secrets."""
        if self.redactor is not None:
            effect = state.pending.get(event.key) if isinstance(event, Answered) else None
            event = redact_event(self.redactor, event, effect)
        try:
            return dump_event(event)
        except (TypeError, ValueError) as error:
            raise JournalError(Reason.UNUSABLE, f"an event cannot be written: {error}") from error


def drive(program: Program, journal: Journal, world: World, event: Event | None, observe: Observer = unseen) -> State:
    """Execute a run until it has ended; `event` is what has just happened, None to resume where the journal ends.

    What was asked and not answered when the run was interrupted is asked again, under the same keys.
    """
    return proceed(RunSession(program, journal, world, observe), restore(program, journal.history), event)


def restore(program: Program, history: History, observe: Observer = unseen) -> State:
    """Return the state that a history leads to; raise `JournalError` when something else follows from it than did.

    `program` is any of those that the run has had: it begins with the one in the history.
    """
    state = State()
    both = zip(advance_history(program, history), history.step_digests, strict=True)
    for seq, ((event, step), known) in enumerate(both):
        if find_difference(seq, step, known) is not None:
            message = f"event {seq} now has another result than recorded: another version of stagec executed the run"
            raise JournalError(Reason.UNUSABLE, message)
        observe(event, step)
        state = step.state
    if history.events and state.ended is None and not state.pending:
        raise damage_error("no event of it begins the run")
    return state


def change_plan(journal: Journal, program: Program, state: State, event: Replanned) -> tuple[Program, State]:
    """Give another plan to a run that no process executes; return its program and its state.

    The event is on the disk when this returns. Raises `JournalError` for a plan that the state has no meaning under.
    """
    step = advance(program, state, event)
    if step.program is None:
        raise JournalError(Reason.UNUSABLE, "the run cannot continue with this plan")
    _append(journal, event, step)
    return step.program, step.state


def rewind(journal: Journal, event: Rewound) -> None:
    """Begin a new branch of the history of a run that no process executes; it is on the disk when this returns."""
    walk = BranchWalk(load(journal.history.plan))
    for each in journal.history.events:
        walk.take(each)
    _append(journal, event, walk.take(event))


def _append(journal: Journal, event: Event, step: StepResult) -> None:
    """Write an event of a run that no process executes, and what followed from it."""
    times = EventTimes(read_clock())
    history, step_digest = journal.history, digest_step(journal.count, step)
    journal.append(event, add_times(dump_event(event), times))
    journal.take_digest(step_digest)
    if step.state.ended is not None:
        journal.seal()
    journal.history = replace(
        history,
        events=(*history.events, event),
        step_digests=(*history.step_digests, step_digest),
        times=(*history.times, times) if history.times else (),
    )


def proceed(session: RunSession, state: State, event: Event | None) -> State:
    """Execute a run from a state, the one to which the journal leads, until it has ended."""
    most = session.program.plan.limits.parallel
    most = most if session.most is None else min(most, session.most)
    background = open_background() if session.journal.waits else None
    parts = AnswerParts() if session.parts is None else session.parts
    with background or nullcontext(run_at_once) as begin, open_pool(session.world, most, session.inbox) as pool:
        course = _Course(session, state, begin, pool)
        with closing(course), parts.let_write(course.take):
            while event is not None or course.state.ended is None:
                course.take(pool.next_event(course.state) if event is None else event)
                event = None
    return course.state


class _Course:
    """Takes the events of a run, one after the other, in any thread: parts of answers come where these are made."""

    def __init__(self, session: RunSession, state: State, begin: Begin, pool: RequestPool) -> None:
        self._session, self._program, self.state = session, session.program, state
        self._begin, self._pool = begin, pool
        self._lock = Lock()
        self._end: BaseException | None = None

    def take(self, event: Event) -> None:
        """Write an event, and let what follows from it happen; nothing is written behind one that was broken off."""
        with self._lock:
            if self._end is not None:
                raise self._end
            try:
                self._take(event)
            except BaseException as error:
                self._end = error
                raise
            if self.state.ended is not None:
                self._end = Failure("the run has ended")

    def _take(self, event: Event) -> None:
        session, journal = self._session, self._session.journal
        body = session.dump(self.state, event)
        following = self._begin(partial(_follow, self._program, self.state, journal.count, body))
        journal.append(event, add_times(body, self._pool.take_times(event)))
        event, step, step_digest = following()
        self._program = step.program or self._program
        journal.take_digest(step_digest)
        if step.state.ended is not None:
            journal.seal()
        session.observe(event, step)
        self.state = step.state
        if session.parts is not None:
            session.parts.observe(event)

    def close(self) -> None:
        """Write nothing more; what another thread writes now is written when this returns."""
        with self._lock:
            self._end = self._end or Failure("the run is not executed any more")


def _follow(program: Program, state: State, seq: int, body: str) -> tuple[Event, StepResult, str]:
    """Return an event as the journal gives it back, so that a run and its replay see the same, and what follows."""
    event = load_event(body)
    step = advance(program, state, event)
    return event, step, digest_step(seq, step)
