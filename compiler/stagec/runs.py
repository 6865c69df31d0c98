"""Runs in a program: start, resume, follow, answer and cancel runs of plans.

The asynchronous face is `start` and `resume`, which return a `RunHandle`; the synchronous one is `run`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from decimal import Decimal
from inspect import isawaitable, iscoroutinefunction
from pathlib import Path
from typing import Any, Self

from stagec.cli.running.inputs import read_scenario, refuse_hooks, refuse_unfit
from stagec.cli.running.runs import name_of, turns_of
from stagec.cli.running.world_sources import Memory, WorldSources
from stagec.core.clock import read_clock
from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.secrets import Redactor
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import quote
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.answer_parts import AnswerParts
from stagec.runtime.drivers.history import EventTimes, JournalError
from stagec.runtime.drivers.local.drive import Course, EventCount, EventStore, RunSession, restore, run_at_once
from stagec.runtime.drivers.local.journal import Journal, create, open_journal
from stagec.runtime.drivers.local.mailbox import find_state_folder
from stagec.runtime.drivers.requests import IDLE, Timers
from stagec.runtime.machine.answer_schemas import read_answer
from stagec.runtime.machine.exchange import Answered, Cancelled, Effect, Event, Started, Wait
from stagec.runtime.machine.failures import RunFailure, describe_failure, failure_to_json
from stagec.runtime.machine.program import Program, load
from stagec.runtime.machine.state import Move, State, StepResult
from stagec.runtime.world.budget import Budget, BudgetedWorld
from stagec.runtime.world.commands import CommandLock
from stagec.runtime.world.composed import ComposedWorld
from stagec.runtime.world.local_world import LocalWorld, Permissions
from stagec.runtime.world.questions import OpenQuestion, describe_question, is_for_people, make_answer
from stagec.runtime.world.scripted_world import ScriptedWorld
from stagec.runtime.world.tools.files import RUNS, Protection
from stagec.runtime.world.tools.programs import ToolSetting


@value
class OwnWorld:
    """The parts of stagec that answer the caller's other requests; the default starts nothing but commands.

    `models` are `PROVIDER:NAME` under `default`, a name that the plan uses, or `node:` and a node. `tools_in` is the
    folder in which bundled tools work, `modules` are Python modules whose functions are tools, `commands` the argument
    vectors of tools by name. `servers` says whether MCP servers start; None: if models answer. `scenario` is a file
    with answers. `calls` lets the Python callables of the plan be called. `variables` are those of the environment that
    commands see besides the usual ones, `seconds` is how long a command may take. `wait` are the seconds to wait for a
    provider of models that is down. The last three are bounds of a run.
    """

    models: Mapping[str, str] = NOTHING
    tools_in: Path | None = None
    modules: tuple[str, ...] = ()
    commands: Mapping[str, tuple[str, ...]] = NOTHING
    servers: bool | None = None
    scenario: Path | None = None
    calls: bool = False
    variables: tuple[str, ...] = ()
    seconds: float = 600
    wait: float | None = None
    most_tokens: int | None = None
    most_cost: Decimal | None = None
    most_time: float | None = None


@contextmanager
def open_own_world(program: Program, run_id: str, journal: Path | None, given: OwnWorld) -> Iterator[BudgetedWorld]:
    """Make the world of a run; nothing that it has started is left when this ends.

    Where the run has a journal, no command begins before those of an earlier process are gone.
    """
    if program.agents:
        raise Failure(f"{quote(program.plan.id)} is the plan of an orchestrator: 'stagec run' executes these")
    scenario = read_scenario(given.scenario, program.plan, shows=False)
    refuse_hooks(program, scenario, allowed=given.calls)
    sources = WorldSources(
        models=given.models,
        tools_in=given.tools_in,
        servers=given.servers,
        modules=given.modules,
        commands=given.commands,
        wait=given.wait,
    )
    hidden = {str(find_state_folder()): "the secrets of stagec"}
    if journal is not None:
        hidden[os.path.abspath(journal.parent)] = RUNS
    with nullcontext() if journal is None else closing(CommandLock(turns_of(journal))) as turns:
        setting = ToolSetting(os.getcwd(), run_id, given.variables, given.seconds, protection=Protection(hidden))
        setting = setting if turns is None else replace(setting, hold=turns.hold)
        local = LocalWorld(Permissions(given.calls, given.variables, given.seconds), turns)
        scripted = ScriptedWorld(scenario, local)
        parts = sources.open_parts(program, setting, scenario)
        with closing(ComposedWorld((scripted, *parts, scripted))) as world:
            yield BudgetedWorld(world, Budget(given.most_tokens, given.most_cost, given.most_time))


@value
class StepTaken:
    """An event of the run and its consequences: the new requests, the ended executions, and their targets.

    `seq` is the number of the event in the run, from 0.
    """

    seq: int
    event: Event
    requests: tuple[Effect, ...]
    moves: tuple[Move, ...]

    def to_json(self) -> Object:
        """Return the part for a page: the new requests, and the ended executions."""
        requests: list[Json] = [{"is": type(each).__name__.lower(), "key": each.key} for each in self.requests]
        moves: list[Json] = [
            {"node": each.node, "visit": each.visit, "outcome": each.outcome, "to": list(each.to)}
            for each in self.moves
        ]
        return {"is": "step", "seq": self.seq, "requests": requests, "moves": moves}


@value
class Questioned:
    """A question to people is open: `RunHandle.answer` answers it, under the key of the question."""

    question: OpenQuestion

    def to_json(self) -> Object:
        """Return the facts for a person who answers."""
        given = self.question
        rows: list[Json] = [*given.rows]
        return {"is": "question", "key": given.key, "who": given.who, "question": f"{given.sentence}?", "rows": rows}


@value
class RunResult:
    """The end of a run: the last state, and the result of the last execution that led somewhere."""

    state: State
    result: Json

    @property
    def outcome(self) -> Outcome:
        """The outcome of the run."""
        return self.state.ended or Outcome.FAILED

    @property
    def failure(self) -> RunFailure | None:
        """Why the run has failed; None if it has not."""
        return self.state.failure

    @property
    def reason(self) -> str:
        """Why the run has ended, in a sentence."""
        return self.state.reason if self.failure is None else describe_failure(self.failure)


@value
class RunEnded:
    """The run has ended; nothing follows."""

    result: RunResult

    def to_json(self) -> Object:
        """Return the outcome, the reason, and the failure if there is one."""
        given = self.result
        failure = failure_to_json(given.failure)
        return {"is": "end", "outcome": str(given.outcome), "reason": given.reason, "failure": failure}


RunEvent = StepTaken | Questioned | RunEnded
"""The events that `RunHandle.follow` yields."""


Answerer = Callable[[Any], Json | Awaitable[Json]]
"""Answers requests of a kind: a coroutine function, or a plain function, which is called in a thread."""
Answers = Mapping[type, Answerer]
"""The parts of the caller's program that answer, by the class of the request."""


_PATIENCE = 2.0
"""Seconds to wait for the end of requests that nobody needs any more."""
_OWN = OwnWorld()
_NOBODY: Answers = {}


class RunHandle:
    """One run that this process executes. Its methods belong to the event loop in which it was started.

    `async with` closes it: a run that has not ended is interrupted, and its journal can be resumed.
    """

    def __init__(self, program: Program, answers: Answers, world: BudgetedWorld | None) -> None:
        self.program = program
        self._answers, self._world = answers, world
        self._timers = Timers()
        self._loop = asyncio.get_running_loop()
        self._events: list[RunEvent] = []
        self._changed = asyncio.Event()
        self._steps = 0
        self._last: Json = None
        self._tasks: dict[str, asyncio.Task[Json]] = {}
        self._threads: set[asyncio.Future[Json]] = set()
        self._questions: dict[str, asyncio.Future[Json]] = {}
        self._cancelled: list[Event] = []
        self._woken = asyncio.Event()
        self._began: dict[str, int | None] = {}
        self._room = asyncio.Semaphore(program.plan.limits.parallel)
        self._alone = asyncio.Lock()
        self._course: Course | None = None
        self._execution: asyncio.Task[RunResult] | None = None

    async def __aenter__(self) -> Self:
        """Return the run itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the run."""
        await self.close()

    @property
    def state(self) -> State:
        """The state of the run."""
        return State() if self._course is None else self._course.state

    async def follow(self, since: int = 0) -> AsyncIterator[RunEvent]:
        """Yield the past events from that number on, then the new ones, until the run has ended.

        Any number of callers may follow a run. Raises what has interrupted the run.
        """
        while True:
            while since < len(self._events):
                yield self._events[since]
                since += 1
            if self._execution is None or self._execution.done():
                await self.result()
                return
            await self._changed.wait()

    async def result(self) -> RunResult:
        """Return how the run has ended; raise what has interrupted it."""
        if self._execution is None:
            raise Failure("the run is not executed")
        return await asyncio.shield(self._execution)

    def list_questions(self) -> list[OpenQuestion]:
        """Return the questions to people that are open."""
        asked = (each for key, each in self.state.pending.items() if key in self._questions)
        return [describe_question(self.program.plan, each) for each in asked if is_for_people(each)]

    def answer(self, key: str, *, yes: bool) -> None:
        """Answer a question; raise `Failure` where nobody asks it, or somebody has answered it."""
        effect, waiting = self.state.pending.get(key), self._questions.get(key)
        if waiting is None or waiting.done() or not is_for_people(effect):
            raise Failure(f"the run asks nobody the question {quote(key)}")
        waiting.set_result(make_answer(effect, yes=yes))

    def cancel(self, reason: str = "cancelled") -> None:
        """End the run for good."""
        self._cancelled.append(Cancelled(reason))
        self._woken.set()

    async def close(self) -> None:
        """Stop executing the run. One that has not ended can be resumed from its journal."""
        if self._execution is not None:
            self._execution.cancel()
            await asyncio.wait({self._execution})

    def begin(self, session: RunSession, event: Event | None, opened: ExitStack) -> None:
        """Begin to execute, with an event if one has just happened; `opened` is closed at the end."""
        past: list[tuple[Event, StepResult]] = []
        memory = None if self._world is None else Memory(self._world)

        def recall(event: Event, step: StepResult) -> None:
            past.append((event, step))
            if memory is not None:
                memory.observe(event, step)

        history = session.journal.history if isinstance(session.journal, Journal) else None
        state = State() if history is None else restore(self.program, history, recall, timers=self._timers)
        parts = AnswerParts() if memory is None else memory.parts
        session = replace(session, observe=self._observe, parts=parts)
        self._course = Course(session, state, run_at_once, self._time)
        for each in past:
            self._tell(*each)
        self._execution = self._loop.create_task(self._execute(self._course, event, parts, opened))
        self._execution.add_done_callback(self._end)

    def _observe(self, event: Event, step: StepResult) -> None:
        """Take note of an event that is in the journal; in any thread."""
        self._loop.call_soon_threadsafe(self._tell, event, step)

    def _time(self, event: Event) -> EventTimes:
        """Return when an event happens, which is now, and when the answering began that it ends."""
        return EventTimes(read_clock(), self._began.pop(event.key, None) if isinstance(event, Answered) else None)

    async def _execute(self, course: Course, event: Event | None, parts: AnswerParts, opened: ExitStack) -> RunResult:
        """Take events until the run has ended."""
        try:
            with parts.let_write(course.take):
                while event is not None or course.state.ended is None:
                    happened = await self._next_event(course.state) if event is None else event
                    await asyncio.to_thread(course.take, happened)
                    event = None
                    self._drop(course.state.pending)
            return RunResult(course.state, self._last)
        except asyncio.CancelledError:
            await self._take_arrived(course)
            raise
        finally:
            self._drop(NOTHING)
            if self._threads:
                await asyncio.wait(self._threads, timeout=_PATIENCE)
            await asyncio.to_thread(self._close, course, opened)

    async def _take_arrived(self, course: Course) -> None:
        """Write the answers that are there when the run is closed."""
        with suppress(Failure):  # the run may have ended meanwhile
            while (key := self._find_answered(course.state)) is not None:
                await asyncio.to_thread(course.take, Answered(key, self._tasks.pop(key).result()))

    @staticmethod
    def _close(course: Course, opened: ExitStack) -> None:
        course.close()  # what is being written is written then
        opened.close()

    async def _next_event(self, state: State) -> Event:
        """Return the next answer to a request of a state, or that somebody cancels the run."""
        idle = (each for key, each in state.pending.items() if isinstance(each, Wait) and key not in self._tasks)
        passed = None if Wait in self._answers else self._timers.find_passed(idle)
        if passed is not None:
            return Answered(passed.key, await self._ask(passed))
        while True:
            for effect in state.pending.values():
                if effect.key not in self._tasks:
                    self._tasks[effect.key] = self._loop.create_task(self._ask(effect))
                    self._tasks[effect.key].add_done_callback(lambda _: self._woken.set())
            if self._cancelled:
                return self._cancelled.pop(0)
            done = [key for key in state.pending if self._tasks[key].done()]
            key = self._find_answered(state)
            is_working = any(key not in done and not isinstance(each, IDLE) for key, each in state.pending.items())
            if key is None and done and not is_working:  # an answer under way is not lost for an error
                key = done[0]
            if key is not None:
                return Answered(key, self._tasks.pop(key).result())
            self._woken.clear()
            await self._woken.wait()

    def _find_answered(self, state: State) -> str | None:
        """Return the first request whose answer is there."""
        done = ((key, self._tasks[key]) for key in state.pending if key in self._tasks and self._tasks[key].done())
        return next((key for key, task in done if not task.cancelled() and task.exception() is None), None)

    async def _ask(self, effect: Effect) -> Json:
        """Return the answer to a request, from the caller, from people, from the clock or from stagec's own world."""
        self._began[effect.key] = read_clock()
        effect = self._timers.shorten(effect)
        answerer = self._answers.get(type(effect))
        is_own = self._world is not None and self._world.takes(effect)
        if answerer is not None:
            answer = await self._call(answerer, effect)
        elif is_for_people(effect) and not is_own:
            self._questions[effect.key] = waiting = self._loop.create_future()
            self._publish(Questioned(describe_question(self.program.plan, effect)))
            answer = await waiting
        elif isinstance(effect, Wait) and not is_own:
            await asyncio.sleep(effect.milliseconds / 1000)
            answer = {}
        elif self._world is None:
            raise Failure(f"nobody answers the request {quote(effect.key)}")
        else:
            async with self._room:
                answer = await self._ask_own(self._world, effect)
        return read_answer(effect, answer)

    async def _call(self, answerer: Answerer, effect: Effect) -> Json:
        if iscoroutinefunction(answerer):
            answer: Json = await answerer(effect)
            return answer
        found = await asyncio.to_thread(answerer, effect)
        return await found if isawaitable(found) else found

    async def _ask_own(self, world: BudgetedWorld, effect: Effect) -> Json:
        """Return an answer of stagec's own world, from a thread that ends with it."""
        if world.overlaps(effect):
            return await self._work(world, effect)
        async with self._alone:
            return await self._work(world, effect)

    async def _work(self, world: BudgetedWorld, effect: Effect) -> Json:
        work = asyncio.ensure_future(asyncio.to_thread(world.answer, effect))
        self._threads.add(work)
        work.add_done_callback(self._threads.discard)
        return await asyncio.shield(work)

    def _drop(self, pending: Mapping[str, Effect]) -> None:
        """Cancel what is under way and not among some requests."""
        for key in [each for each in self._tasks if each not in pending]:
            task = self._tasks.pop(key)
            self._questions.pop(key, None)
            if task.done():
                if not task.cancelled():
                    task.exception()  # whoever needs no answer needs no error
                continue
            task.cancel()
            if self._world is not None:
                self._world.cancel(key)

    def _tell(self, event: Event, step: StepResult) -> None:
        self._last = step.last if step.moves else self._last
        self._publish(StepTaken(self._steps, event, step.effects, step.moves))
        self._steps += 1

    def _end(self, execution: asyncio.Task[RunResult]) -> None:
        if not execution.cancelled() and execution.exception() is None:
            self._publish(RunEnded(execution.result()))
        self._wake()

    def _publish(self, event: RunEvent) -> None:
        self._events.append(event)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


async def start(
    plan: bytes,
    started: Started,
    *,
    answers: Answers = _NOBODY,
    own: OwnWorld | None = _OWN,
    journal: Path | None = None,
) -> RunHandle:
    """Begin a run of a plan, and return it; with the path of a journal, what happens is kept there.

    `answers` are the caller's own parts; stagec's own world answers what these do not, unless it is None. Questions to
    people wait for `RunHandle.answer`. Raises `PlanError` for a refused plan, `Failure` for a run that cannot begin,
    and `JournalError` for a journal with a run in it.
    """
    program = await asyncio.to_thread(load, plan)
    refuse_unfit(program, started)

    def make() -> EventStore:
        return EventCount() if journal is None else create(journal, plan, program.digest)

    return await _open(program, answers, own, _Opening(started.run, journal, make, started))


async def resume(journal: Path, *, answers: Answers = _NOBODY, own: OwnWorld | None = _OWN) -> RunHandle:
    """Continue the run of a journal, and return it: what was asked and not answered is asked again.

    Raises `JournalError` for a journal that cannot be used. A run that has ended is returned as it is.
    """
    kept = await asyncio.to_thread(open_journal, journal)
    try:
        program = await asyncio.to_thread(load, kept.history.latest[0])
    except BaseException:
        kept.close()
        raise
    return await _open(program, answers, own, _Opening(name_of(journal), journal, lambda: kept))


@value
class _Opening:
    """A run before its execution: its id, its journal or None, the function that opens it, and its first event."""

    run: str
    journal: Path | None
    make: Callable[[], EventStore]
    event: Event | None = None


async def _open(program: Program, answers: Answers, own: OwnWorld | None, opening: _Opening) -> RunHandle:
    """Return a run that is executed: its journal and its world are open until it has ended."""

    def open_all(opened: ExitStack) -> tuple[EventStore, BudgetedWorld | None]:
        store = opening.make()
        if isinstance(store, Journal):
            opened.callback(store.close)
        world = (
            None if own is None else opened.enter_context(open_own_world(program, opening.run, opening.journal, own))
        )
        return store, world

    with ExitStack() as opened:
        store, world = await asyncio.to_thread(open_all, opened)
        handle = RunHandle(program, answers, world)
        session = RunSession(program, store, world or NoWorld(), redactor=Redactor(os.environ))
        handle.begin(session, opening.event, opened.pop_all())
    return handle


class NoWorld:
    """The world of a run whose requests the caller answers."""

    def answer(self, effect: Effect) -> Json:
        """Raise `Failure`: nobody answers."""
        raise Failure(f"nobody answers the request {quote(effect.key)}")


def run(
    plan: bytes,
    started: Started,
    *,
    answers: Answers = _NOBODY,
    own: OwnWorld | None = _OWN,
    journal: Path | None = None,
    decide: Callable[[OpenQuestion], bool] = lambda _: False,
    observe: Callable[[RunEvent], None] = lambda _: None,
) -> RunResult:
    """Run a plan until it has ended, for scripts: `start` without an event loop of the caller.

    `decide` answers questions to people, by default with no; `observe` is called with everything that happens. With the
    journal of a run that has begun already, the run is resumed.
    """
    is_begun = journal is not None and journal.exists()

    async def follow() -> RunResult:
        if journal is not None and is_begun:
            handle = await resume(journal, answers=answers, own=own)
        else:
            handle = await start(plan, started, answers=answers, own=own, journal=journal)
        async with handle:
            async for event in handle.follow():
                observe(event)
                if isinstance(event, Questioned):
                    handle.answer(event.question.key, yes=decide(event.question))
            return await handle.result()

    return asyncio.run(follow())


__all__ = [
    "Answerer",
    "JournalError",
    "OwnWorld",
    "Questioned",
    "RunEnded",
    "RunEvent",
    "RunHandle",
    "RunResult",
    "StepTaken",
    "resume",
    "run",
    "start",
]
