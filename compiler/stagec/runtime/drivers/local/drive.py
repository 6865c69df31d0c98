"""The loop that executes a plan: advance, journal the event, ask the world, journal its answer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, Protocol, TypeVar

from stagec.core.clock import read_clock
from stagec.core.disk import create_private, open_folder, write_all
from stagec.core.failure import Failure
from stagec.core.folders import open_file, remove_file
from stagec.core.json import object_of, text_in
from stagec.core.secrets import Redactor
from stagec.core.value import replace, value
from stagec.runtime.drivers.answer_parts import AnswerParts
from stagec.runtime.drivers.following import Interruption
from stagec.runtime.drivers.history import (
    EventTimes,
    History,
    JournalError,
    Reason,
    add_times,
    damage_error,
    dump_event,
    load_event,
)
from stagec.runtime.drivers.local.journal import Journal, create, open_journal
from stagec.runtime.drivers.redaction import redact_event
from stagec.runtime.drivers.replay import BranchWalk, advance_history, digest_step, find_difference
from stagec.runtime.drivers.requests import Inbox, RequestPool, Timers, World, open_pool
from stagec.runtime.machine.advance import advance
from stagec.runtime.machine.exchange import Answered, Event, Replanned, Rewound, Started, choose_next
from stagec.runtime.machine.program import Program, load
from stagec.runtime.machine.state import State, StepResult
from stagec.runtime.world.scenario import PassedDeadlineError

T = TypeVar("T")
Todo = SimpleQueue[tuple[Callable[[], Any], SimpleQueue[tuple[Any, ...]]] | None]


class Begin(Protocol):
    """Begins some work, which may be done more than once."""

    def __call__(self, work: Callable[[], T], /) -> Callable[[], T]:
        """Return a function that waits for some work, and returns its result or raises its error."""


def run_at_once(work: Callable[[], T], /) -> Callable[[], T]:
    """Do some work here and now."""
    found = work()
    return lambda: found


@contextmanager
def open_background() -> Iterator[Begin]:
    """Do work in a thread of its own, one thing after the other; the thread has ended when this is left.

    What nobody waits for is forgotten.
    """
    todo: Todo = SimpleQueue()

    def begin(work: Callable[[], T], /) -> Callable[[], T]:
        over: SimpleQueue[tuple[T, ...]] = SimpleQueue()
        todo.put((work, over))

        def result() -> T:
            found = over.get()
            return found[0] if found else work()

        return result

    thread = Thread(target=_work_off, args=(todo,), daemon=True)
    try:
        thread.start()
        yield begin
    finally:
        todo.put(None)
        if thread.is_alive():  # it may not have begun
            thread.join()


def _work_off(todo: Todo) -> None:
    while (task := todo.get()) is not None:
        work, over = task
        found: tuple[Any, ...] = ()
        with suppress(BaseException):  # whoever waits for it does it once more, and sees what is wrong
            found = (work(),)
        over.put(found)


Observer = Callable[[Event, StepResult], None]
"""Is called with every event that is in the journal, and with the step that followed from it."""


def unseen(_event: Event, _step: StepResult) -> None:
    """Observe nothing."""


class EventStore(Protocol):
    """The store of the events of a run, such as a `Journal`."""

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
    `parts` has those of answers that are not there yet, `timers` the waits that began in an earlier session.
    """

    program: Program
    journal: EventStore
    world: World
    observe: Observer = unseen
    inbox: Inbox | None = None
    most: int | None = None
    redactor: Redactor | None = None
    parts: AnswerParts | None = None
    timers: Timers | None = None

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
    timers = Timers()
    state = restore(program, journal.history, timers=timers)
    return proceed(RunSession(program, journal, world, observe, timers=timers), state, event)


def restore(program: Program, history: History, observe: Observer = unseen, *, timers: Timers | None = None) -> State:
    """Return the state that a history leads to; raise `JournalError` when something else follows from it than did.

    `program` is any of those that the run has had: it begins with the one in the history. `timers` hear of its waits.
    """
    state = State()
    both = zip(advance_history(program, history), history.step_digests, strict=True)
    for seq, ((event, step), known) in enumerate(both):
        if find_difference(seq, step, known) is not None:
            message = f"event {seq} now has another result than recorded: another version of stagec executed the run"
            raise JournalError(Reason.UNUSABLE, message)
        observe(event, step)
        if timers is not None:
            timers.take(step, history.times[seq].at if history.times else None)
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
    with (
        background or nullcontext(run_at_once) as begin,
        open_pool(session.world, most, session.inbox, timers=session.timers) as pool,
        closing(Course(session, state, begin, pool.take_times)) as course,
        parts.let_write(course.take),
    ):
        try:
            while event is not None or course.state.ended is None:
                course.take(pool.next_event(course.state) if event is None else event)
                event = None
        except BaseException:
            course.take_arrived(pool)
            raise
    return course.state


class Course:
    """Takes the events of a run, one after the other, in any thread: parts of answers come where these are made.

    `time` tells when an event happens, and when the answering began that it ends.
    """

    def __init__(self, session: RunSession, state: State, begin: Begin, time: Callable[[Event], EventTimes]) -> None:
        self._session, self._program, self.state = session, session.program, state
        self._begin, self._time = begin, time
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
        journal.append(event, add_times(body, self._time(event)))
        event, step, step_digest = following()
        self._program = step.program or self._program
        journal.take_digest(step_digest)
        if step.state.ended is not None:
            journal.seal()
        session.observe(event, step)
        self.state = step.state
        if session.parts is not None:
            session.parts.observe(event)

    def take_arrived(self, pool: RequestPool) -> None:
        """Take the events that have arrived before something ends the asking."""
        while self._end is None:
            event = pool.last_event(self.state, is_patient=False)
            if event is None:
                return
            self.take(event)

    def close(self) -> None:
        """Write nothing more; what another thread writes now is written when this returns."""
        with self._lock:
            self._end = self._end or Failure("the run is not executed any more")


def _follow(program: Program, state: State, seq: int, body: str) -> tuple[Event, StepResult, str]:
    """Return an event as the journal gives it back, so that a run and its replay see the same, and what follows."""
    event = load_event(body)
    step = advance(program, state, event)
    return event, step, digest_step(seq, step)


def play(program: Program, world: World, event: Event, observe: Observer) -> State:
    """Return the state in which a run ends; whatever the world raises ends it."""
    return play_steps(partial(advance, program), world, event, observe)


class _Stateful(Protocol):
    @property
    def state(self) -> State: ...


S = TypeVar("S", bound=_Stateful)


def play_steps(
    make_step: Callable[[State, Event], S], world: World, event: Event, observe: Callable[[Event, S], None]
) -> State:
    """Return the state in which a run ends whose steps are made by a function, from a state and an event."""
    state = State()
    while True:
        step = make_step(state, event)
        observe(event, step)
        state = step.state
        if state.ended is not None:
            return state
        effect = choose_next(state.pending.values())
        try:
            event = Answered(effect.key, world.answer(effect))
        except PassedDeadlineError as passed:
            event = passed.find_event(state.pending)


def run(plan: bytes, world: World, started: Started, journal: Path | None = None) -> State:
    """Run a plan and return the state in which the run has ended.

    With the path of a journal, what happens is kept there, and a run that is there already is resumed; `started` counts
    when there is none. Raises `stagec.ir.plan.PlanError` for a refused plan, `JournalError` for an unusable journal,
    and every error of the world; the run can then be resumed.
    """
    program = load(plan)
    if journal is None:
        return proceed(RunSession(program, EventCount(), world), State(), started)
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


class EventCount:
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


SUFFIX = ".interruption"
"""The suffix of the file beside a journal that holds the reason of an interruption."""
_LARGEST = 100_000
"""Bytes that are read of it."""
_LATEST = 253_402_300_799
"""The last second of the year 9999."""


def keep_interruption(journal: Path, given: Interruption) -> None:
    """Write why a run is interrupted; without room for that, the run can be resumed nevertheless."""
    data = json.dumps({"reason": given.reason, "retryAt": given.retry_at}).encode()
    with suppress(OSError):
        os.close(create_private(_locate(journal), lambda opened: write_all(opened, data), replace=True, durable=False))


def read_interruption(journal: Path) -> Interruption | None:
    """Return why a run was interrupted; None if nobody has written it, or not in this form."""
    try:
        with open_folder(journal.parent) as folder, open(open_file(folder, _locate(journal).name), "rb") as file:
            found = object_of(json.loads(file.read(_LARGEST)))
    except (OSError, ValueError, RecursionError):
        return None
    reason, retry_at = text_in(found, "reason"), found.get("retryAt")
    if not isinstance(retry_at, int | float) or not 0 <= retry_at < _LATEST:
        retry_at = None
    return None if reason is None else Interruption(reason, retry_at)


def forget_interruption(journal: Path) -> None:
    """Remove the reason: a process executes the run again."""
    with suppress(OSError), open_folder(journal.parent) as folder:
        remove_file(folder, _locate(journal).name)


def _locate(journal: Path) -> Path:
    return journal.with_name(f"{journal.name}{SUFFIX}")
