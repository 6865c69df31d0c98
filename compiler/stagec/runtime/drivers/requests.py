"""The open requests of a run: those that take time run at once, in threads of their own; waits know their beginning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event as Flag
from threading import Lock, Thread
from time import monotonic
from typing import Protocol

from stagec.core.clock import read_clock
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.runtime.drivers.history import EventTimes
from stagec.runtime.machine.answer_schemas import read_answer
from stagec.runtime.machine.exchange import (
    Answered,
    Confirm,
    Effect,
    Event,
    Grant,
    Judge,
    Wait,
    choose_next,
    is_deadline,
)
from stagec.runtime.machine.state import State, StepResult
from stagec.runtime.world.models.port import ProviderOutage
from stagec.runtime.world.scenario import PassedDeadlineError

_NANOSECONDS = 1_000_000


class Timers:
    """The waits that a run has asked for. Times are nanoseconds since 1970, of whichever machine has written them."""

    def __init__(self) -> None:
        self._begun: dict[str, int] = {}

    def take(self, step: StepResult, at: int | None) -> None:
        """Take note of the waits that begin with a step, and forget those that are over; `at` is when it happened."""
        for effect in step.effects:
            if isinstance(effect, Wait) and at is not None:
                self._begun[effect.key] = at
        if self._begun:
            self._begun = {key: begun for key, begun in self._begun.items() if key in step.state.pending}

    def find_rest(self, wait: Wait) -> int:
        """Return how many milliseconds of a wait are left; one whose beginning nobody knows begins now.

        A clock that was put back makes no wait longer.
        """
        now = read_clock()
        if now is None:
            return wait.milliseconds
        passed = now - self._begun.setdefault(wait.key, now)
        return min(wait.milliseconds, max(0, wait.milliseconds - passed // _NANOSECONDS))

    def find_passed(self, waits: Iterable[Wait]) -> Wait | None:
        """Return a deadline that passed before anybody waited for it: whoever resumes the run asks for nothing else."""
        return next((each for each in waits if is_deadline(each.key) and not self.find_rest(each)), None)

    def shorten(self, effect: Effect) -> Effect:
        """Return a request; of a wait what is left of it."""
        return replace(effect, milliseconds=self.find_rest(effect)) if isinstance(effect, Wait) else effect


_RESTING = 16
"""Threads that wait for more to do; others end when they have nothing to do."""


class BackgroundTask:
    """Something that is done in another thread."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._is_over = Flag()

    def do(self) -> None:
        """Do it."""
        try:
            self._work()
        finally:
            self._is_over.set()

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self._is_over.is_set()

    def wait(self, seconds: float) -> None:
        """Wait until it is over, so many seconds at most."""
        self._is_over.wait(seconds)


class Threads:
    """Daemon threads, one for each task that runs at the same time; idle threads are reused."""

    def __init__(self) -> None:
        self._resting: list[SimpleQueue[BackgroundTask]] = []
        self._lock = Lock()

    def begin(self, work: Callable[[], object]) -> BackgroundTask:
        """Begin to do something, which must not raise anything."""
        task = BackgroundTask(work)
        with self._lock:
            rested = self._resting.pop() if self._resting else None
        if rested is None:
            Thread(target=self._keep_doing, args=(task,), daemon=True).start()
        else:
            rested.put(task)
        return task

    def _keep_doing(self, task: BackgroundTask) -> None:
        given: SimpleQueue[BackgroundTask] = SimpleQueue()
        while True:
            task.do()
            with self._lock:
                if len(self._resting) >= _RESTING:
                    return
                self._resting.append(given)
            task = given.get()


THREADS = Threads()
"""The threads of this process."""


def begin_thread(work: Callable[[], object]) -> BackgroundTask:
    """Begin to do something in a new thread.

    `Thread.start` waits until the thread runs. So tasks that end at once mostly end in the order in which they begin.
    """
    task = BackgroundTask(work)
    Thread(target=task.do, daemon=True).start()
    return task


IDLE = (Wait, Grant, Confirm, Judge)
"""Requests for which this machine does nothing but wait."""
_PATIENCE = 2.0
"""Seconds to wait for the end of requests that were cancelled; their threads go on by themselves after that."""


Start = Callable[[Callable[[], object]], BackgroundTask]
"""Begins to do something in another thread."""


class World(Protocol):
    """The world: it answers the requests of the machine.

    `answer` is called in several threads at once where a plan lets stages or calls run together. A world may have two
    more methods. `overlaps(effect)` tells whether a request may be under way beside others; all are when there is no
    such method. `cancel(key)` is called, in the main thread, for a request that is under way and whose answer nobody
    needs any more; it makes `answer` return or raise soon, whatever.
    """

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request, in the form that its class names."""


class InterruptionError(Exception):
    """Is put into an inbox to end the asking: `word` says why."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


class Inbox:
    """Takes what happens to a run while requests are under way: their answers, and events that nobody asked for.

    `put` may be called in any thread, and by what handles a signal.
    """

    def __init__(self) -> None:
        self._queue: SimpleQueue[_Arrival] = SimpleQueue()
        self.put = self._queue.put
        self.get = self._queue.get

    def get_all(self) -> Iterator[_Arrival]:
        """Yield the arrivals so far."""
        with suppress(Empty):
            while True:
                yield self._queue.get_nowait()


class RequestPool:
    """Gets answers from a world: as many at once as a plan allows, waits apart, and others one after the other.

    What follows from answers that have arrived together follows in the order of the requests. Requests that do not
    overlap are answered in the asking thread, in their order, so a world without overlaps has one order. With an inbox,
    a request that overlaps never blocks the asking thread: it reads messages at once.
    """

    def __init__(
        self,
        world: World,
        most: int,
        inbox: Inbox | None = None,
        start: Start = begin_thread,
        timers: Timers | None = None,
    ) -> None:
        self._world, self._most, self._start = world, most, start
        self._timers = Timers() if timers is None else timers
        self._is_heard = inbox is not None
        self._inbox = Inbox() if inbox is None else inbox
        self.put = self._inbox.put
        self._events: list[Event] = []
        self._overlaps: Callable[[Effect], bool] = getattr(world, "overlaps", _always)
        self._cancel: Callable[[str], None] | None = getattr(world, "cancel", None)
        self._under_way: dict[str, tuple[Effect, BackgroundTask]] = {}
        self._arrived: dict[str, _Result] = {}
        self._begun: dict[str, int | None] = {}
        self._interruption: InterruptionError | None = None

    def next_event(self, state: State) -> Event:
        """Return the next answer to a request of a state, or an event of the inbox; raise what the world raises."""
        try:
            return self._find_next(state)
        except PassedDeadlineError as passed:
            return passed.find_event(state.pending)

    def _find_next(self, state: State) -> Event:
        if not self._is_heard and not self._under_way and not self._arrived and len(state.pending) == 1:
            (effect,) = state.pending.values()  # nothing runs beside it
            return Answered(effect.key, self._ask(effect))
        self._cancel_others(state.pending)
        while True:
            event = self._find_arrived(state)
            if event is not None:
                return event
            passed = None if self._arrived else self._find_passed(state)
            if passed is not None:
                return Answered(passed.key, self._ask(passed))
            alone = [] if self._arrived else self._begin(state)
            if alone or not self._under_way:
                effect = choose_next(alone)
                return Answered(effect.key, self._ask(effect))
            self._accept(self._inbox.get())

    def last_event(self, state: State, *, is_patient: bool) -> Event | None:
        """Return the next event before the asking ends, None when there is none; no other request begins.

        These are the events that have arrived. If `is_patient`, also the answers that are under way are waited for. A
        request that fails now is made again by whoever goes on. Raises `InterruptionError` when no more can be waited.
        """
        while True:
            event = self._find_arrived(state, takes_failures=False)
            if event is not None or not (is_patient and self._is_working):
                return event
            self._accept(self._inbox.get())

    def _find_arrived(self, state: State, *, takes_failures: bool = True) -> Event | None:
        """Return an event that has arrived; raise what ends the asking only when there is no other."""
        self._take_news()
        if self._events:
            return self._events.pop(0)
        first = self._choose_arrived(state)
        if first is not None and not self._arrived[first].has_failed:
            return Answered(first, self._arrived.pop(first).take())
        if self._interruption is not None:
            raise self._interruption
        if first is not None and takes_failures:
            self._arrived.pop(first).take()
        return None

    @property
    def _is_working(self) -> bool:
        """Whether anything is under way but waits."""
        return any(not isinstance(effect, IDLE) for effect, _ in self._under_way.values())

    def _choose_arrived(self, state: State) -> str | None:
        """Return the request whose result is taken next, None to wait for another one.

        A failure ends the asking, and comes after the answers that have arrived: none is lost for it. An outage comes
        after everything else that is under way.
        """
        arrived = [key for key in state.pending if key in self._arrived]
        arrived.sort(key=lambda key: (self._arrived[key].has_failed, self._arrived[key].is_outage))
        first = next(iter(arrived), None)
        return None if first is not None and self._arrived[first].is_outage and self._is_working else first

    def take_news(self) -> Event | None:
        """Return an event of the inbox that has arrived, None if none has; raise what ends the asking."""
        self._take_news()
        if self._interruption is not None and not self._events and not self._arrived:
            raise self._interruption
        return self._events.pop(0) if self._events else None

    def take_times(self, event: Event) -> EventTimes:
        """Return when an event happens, which is now, and when the answering began that it ends."""
        return EventTimes(read_clock(), self._begun.pop(event.key, None) if isinstance(event, Answered) else None)

    def _ask(self, effect: Effect) -> Json:
        self._begun[effect.key] = read_clock()
        return read_answer(effect, self._world.answer(self._timers.shorten(effect)))

    def close(self) -> None:
        """Let go of everything that is under way."""
        self._cancel_others(())

    def _find_passed(self, state: State) -> Wait | None:
        idle = (each for key, each in state.pending.items() if key not in self._under_way)
        return self._timers.find_passed(each for each in idle if isinstance(each, Wait) and self._overlaps(each))

    def _begin(self, state: State) -> list[Effect]:
        """Begin what may begin beside others; return the requests that the asking thread has to answer."""
        alone = []
        for effect in [each for key, each in state.pending.items() if key not in self._under_way]:
            if not self._overlaps(effect):
                alone.append(effect)
            elif self._has_room(effect):
                self._under_way[effect.key] = effect, self._start(partial(self._answer, effect))
        return alone

    def _has_room(self, effect: Effect) -> bool:
        """Tell whether another request may begin; waits and people take no room."""
        if isinstance(effect, IDLE):
            return True
        return sum(not isinstance(each, IDLE) for each, _ in self._under_way.values()) < self._most

    def _answer(self, effect: Effect) -> None:
        result = _Result()
        with result:
            result.answer = self._ask(effect)
        self._inbox.put((effect.key, result))

    def _take_news(self) -> None:
        """Take all that has arrived until now."""
        for each in self._inbox.get_all():
            self._accept(each)

    def _accept(self, arrived: _Arrival) -> None:
        """Keep an arrival, unless it is an answer that nobody waits for any more."""
        if isinstance(arrived, InterruptionError):
            self._interruption = arrived
        elif not isinstance(arrived, tuple):
            self._events.append(arrived)
        elif self._under_way.pop(arrived[0], None) is not None:
            self._arrived[arrived[0]] = arrived[1]

    def _cancel_others(self, pending: Iterable[str]) -> None:
        """Cancel what is under way and not among some requests, and wait until it has ended."""
        needed = frozenset(pending)
        over = [self._under_way.pop(key) for key in tuple(self._under_way) if key not in needed]
        self._arrived = {key: each for key, each in self._arrived.items() if key in needed}
        if self._cancel is None:
            return
        for effect, _ in over:
            self._cancel(effect.key)
        end = monotonic() + _PATIENCE
        for _, task in over:
            task.wait(max(0.0, end - monotonic()))


class _Result:
    """The result of a request: an answer, or the error that the body of this raises."""

    def __init__(self) -> None:
        self.answer: Json = None
        self._error: BaseException | None = None

    def __enter__(self) -> None:
        """Begin to listen."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        """Keep an error; whoever takes the answer raises it."""
        self._error = error
        return True

    @property
    def has_failed(self) -> bool:
        """Whether there is no answer."""
        return self._error is not None

    @property
    def is_outage(self) -> bool:
        """Whether a provider of models is down."""
        return isinstance(self._error, ProviderOutage)

    def take(self) -> Json:
        """Return the answer, or raise the error."""
        if self._error is not None:
            raise self._error
        return self.answer


_Arrival = Event | InterruptionError | tuple[str, _Result]


def _always(_effect: Effect) -> bool:
    return True


@contextmanager
def open_pool(
    world: World,
    most: int,
    inbox: Inbox | None = None,
    start: Start = begin_thread,
    timers: Timers | None = None,
) -> Iterator[RequestPool]:
    """Get answers from a world, each in what `start` begins; nothing is under way any more when this is left.

    `timers` know of waits that have begun before.
    """
    pool = RequestPool(world, most, inbox, start, timers)
    try:
        yield pool
    finally:
        pool.close()
