"""One segment of a run: the part of it that a worker executes at once, each event a step of the engine."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable
from contextlib import ExitStack, closing, suppress
from functools import partial
from math import ceil
from random import random
from time import monotonic

from dbos import DBOS

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, object_of
from stagec.core.value import replace
from stagec.runtime.drivers.answer_parts import AnswerParts
from stagec.runtime.drivers.dbos.execution_setup import ExecutionSetup, RefusedRunError, RunWorld, open_cancelled_world
from stagec.runtime.drivers.dbos.fan_out import FanOut, FanOutWorld
from stagec.runtime.drivers.dbos.queues import PermittedWorld
from stagec.runtime.drivers.dbos.run_records import FoundPart, RunPhase, RunRecord, Settlement, TakenUp, name_child
from stagec.runtime.drivers.dbos.run_store import STOP, dump_entry, read_entry
from stagec.runtime.drivers.following import UnreachableError
from stagec.runtime.drivers.history import UNTIMED, EventTimes, History, add_times, dump_event
from stagec.runtime.drivers.messages import MessageKind, RunMessage
from stagec.runtime.drivers.redaction import redact_answer, redact_event
from stagec.runtime.drivers.replay import digest_step, find_difference
from stagec.runtime.drivers.requests import THREADS, Inbox, InterruptionError, RequestPool, Timers, World, open_pool
from stagec.runtime.drivers.usage_ledger import UsageLedger, total_to_json
from stagec.runtime.machine import Program, State, advance
from stagec.runtime.machine.answer_schemas import read_answer
from stagec.runtime.machine.exchange import Answered, Cancelled, Effect, Event, Replanned, Wait, whole_key
from stagec.runtime.machine.state import StepResult
from stagec.runtime.world.models.port import ProviderOutage, read_outage, spread
from stagec.runtime.world.questions import is_for_people, list_open_questions

OUTAGE = "outage"
"""The member of the summary that counts the outages in a row since the last event."""


_DIFFERS = "event {} now has another result than recorded: another version of stagec executed the run"


class RunProgress:
    """A run that is followed; `digest` is the step digest of the last of `count` events."""

    def __init__(self, program: Program) -> None:
        self.program, self.state = program, State()
        self.digest, self.count = "", 0
        self._ledger = UsageLedger()

    def follow(self, event: Event) -> StepResult:
        """Advance by an event."""
        step = advance(self.program, self.state, event)
        self.digest, self.state = digest_step(self.count, step), step.state
        self.program = step.program or self.program
        self.count += 1
        self._ledger.take(event, step)
        return step

    def restore(self, history: History, world: RunWorld, timers: Timers | None = None) -> None:
        """Come to where a run has come; raise `Failure` when something else follows now than did."""
        times = history.times or (UNTIMED,) * len(history.events)
        for event, known, each in zip(history.events, history.step_digests, times, strict=True):
            step = self.follow(event)
            if find_difference(self.count - 1, step, known) is not None:
                raise Failure(_DIFFERS.format(self.count - 1))
            world.observe(event, step)
            if timers is not None:
                timers.take(step, each.at)

    def describe(self) -> Object:
        """Return the summary of the run that is kept in its row."""
        used = self._ledger.total
        asked = list_open_questions(self.program, self.state.pending.values())
        questions: list[Json] = [{"key": each.key, "kind": each.kind, "sentence": each.sentence} for each in asked]
        return {
            "executions": self.state.executions,
            "events": self.count,
            "plan": self.program.plan.id,
            "digest": self.program.digest,
            "usage": None if used is None else total_to_json(used),
            "questions": questions if self.state.ended is None else [],
            OUTAGE: None,
        }


_NOTHING: Object = {}
"""The result of a child that nobody has executed: the holder of the run makes the request."""


def follows(found: FoundPart, parts: AnswerParts) -> bool:
    """Tell whether a part follows from those that are known; a worker that seemed dead may find one that does not."""
    key = found.part.key
    return not parts.is_known(key) and found.after == parts.digest_parts(whole_key(key) or "")


class ChildRequest:
    """A request, while it is under way; `cancel` comes in other threads."""

    def __init__(self, setup: ExecutionSetup, record: RunRecord, key: str) -> None:
        self._setup, self._record, self._key = setup, record, key
        self._progress = RunProgress(setup.transitions.store.load_program(record))
        self._last = -1
        """The last step of the segment that was read."""
        self._cancel_request: Callable[[], None] | None = None
        self._is_cancelled = False

    def cancel(self) -> None:
        """End it; whatever comes of it is nothing."""
        self._is_cancelled = True
        if self._cancel_request is not None:
            self._cancel_request()

    def execute(self) -> Object:
        """Return the answer, why there is none, or nothing if it is for another worker to find one."""
        transitions, progress, record = self._setup.transitions, self._progress, self._record
        history, latest = transitions.store.read_before(record, record.segment), self._read_news()
        change = next((each for _, each in latest if isinstance(each, Replanned)), history.last_change)
        with ExitStack() as opened:
            world, _ = self._setup.enter_world(opened, record, progress.program, change, self._key)
            parts: AnswerParts = getattr(world, "parts", AnswerParts())
            progress.restore(history, world)
            self._follow(latest, world, parts)
            for found in transitions.read_parts((record.run,)).get(record.run, ()):  # nobody has recorded them yet
                if follows(found, parts):
                    world.observe(found.part, advance(progress.program, progress.state, found.part))
            effect = progress.state.pending.get(self._key)
            with parts.let_write(partial(self._send_part, world, parts)):
                told = _NOTHING if effect is None else self._ask(world, effect)
        return _NOTHING if self._is_cancelled else told

    def _read_news(self) -> list[tuple[str, Event]]:
        """Return the events of the segment that were not read before, and the step digests before them."""
        entries = self._setup.transitions.store.read_entries(self._record, self._record.segment, self._last)
        self._last = max([self._last, *(step for _, step, _ in entries)])
        return [entry[:2] for _, _, entry in entries if entry is not None]

    def _follow(self, news: Iterable[tuple[str, Event]], world: RunWorld, parts: AnswerParts) -> None:
        """Let the world hear what has happened in the segment, but for the parts that it knows."""
        for digest, event in news:
            if digest != self._progress.digest:
                raise Failure(_DIFFERS.format(self._progress.count - 1))
            step = self._progress.follow(event)
            name = event.key if isinstance(event, Answered) and whole_key(event.key) is not None else None
            if name is None or not parts.is_known(name):
                world.observe(event, step)

    def _send_part(self, world: RunWorld, parts: AnswerParts, event: Event) -> None:
        """Give a part of the answer to the worker of the run; hear what has happened there, so that budgets hold."""
        told = redact_event(self._setup.redactor, event)
        if self._is_cancelled or not isinstance(told, Answered):
            raise Failure("nobody needs the answer any more")
        self._setup.transitions.send_part(self._record, FoundPart(told, parts.digest_parts(self._key)))
        parts.observe(told)
        self._follow(self._read_news(), world, parts)

    def _ask(self, opened: RunWorld, effect: Effect) -> Object:
        world = PermittedWorld(opened, self._setup.permits)
        self._cancel_request = partial(world.cancel, self._key)
        if self._is_cancelled:
            return _NOTHING
        try:
            answer = read_answer(effect, world.answer(effect))
        except ProviderOutage as outage:
            return {"outage": {**outage.to_json(), "reason": self._setup.tell(outage)}}
        except Exception as error:  # whatever somebody's world raises interrupts the run, where that is under way
            return {"failure": self._setup.tell(error)}
        return {"answer": redact_answer(self._setup.redactor, answer, effect)}


def execute_child(setup: ExecutionSetup, fan_out: FanOut, record: RunRecord, key: str) -> Object:
    """Make one request of a run, whose segment waits for it; return nothing if that is for another worker to do."""
    child = ChildRequest(setup, record, key)
    with fan_out.executing(name_child(record, key), child.cancel):
        return child.execute()


_LONG = 2_000
"""Milliseconds from which on a wait holds nothing."""
_CHANCE: Callable[[], float] = random
"""By how much a rest becomes longer, so that not all runs come at once."""


class Word:
    """Why a segment ends, as its last step records it."""

    PARK, PAUSE, DRAIN, FAIL, OUTAGE = "park", "pause", "drain", "fail", "outage"


class Segment:
    """A segment of a run, while it is under way; signals come in other threads."""

    def __init__(self, setup: ExecutionSetup, program: Program, given: TakenUp) -> None:
        self._setup, self.record, self._sent = setup, given.record, given.sent
        self._progress = RunProgress(program)
        self._inbox, self._parts = Inbox(), AnswerParts()
        self._told: set[str] = set()
        self._timers = Timers()
        self._stop, self._is_cancelled = "", False
        self._left_parts = given.parts
        self._heard: dict[str, FoundPart] = {}
        """The parts of answers that other workers have found, by key."""
        self._begun, self._is_live = monotonic(), False
        self._change = given.change
        self._has_changed = False
        self._answered_elsewhere: Container[str] = ()
        self._find_begun: Callable[[Iterable[str]], None] | None = None

    def stop(self, word: str, *, at_once: bool = False) -> None:
        """Let it end when the next event is recorded, or at once; what is under way then is asked again."""
        self._stop = self._stop or word
        self._parts.stop()
        if at_once:
            self._inbox.put(InterruptionError(word))

    def hear(self, messages: Iterable[RunMessage]) -> None:
        """Take signals, each once; a cancelled run cannot be paused any more, and nobody sends parts of answers."""
        new = [each for each in messages if each.id not in self._told and whole_key(each.key) is None]
        self._told.update(each.id for each in new)
        self._is_cancelled |= any(each.kind is MessageKind.CANCEL for each in new)
        for message in new:
            if message.kind is MessageKind.PAUSE:
                if not self._is_cancelled:
                    self.stop(Word.PAUSE, at_once=True)
                continue
            answer = {**object_of(message.answer), "by": message.by, "message": message.id}
            is_cancellation = message.kind is MessageKind.CANCEL
            self._inbox.put(Cancelled() if is_cancellation else Answered(message.key, answer))

    def hear_part(self, found: FoundPart) -> None:
        """Take a part of an answer that another worker has found, once."""
        if found.part.key not in self._heard:
            self._heard[found.part.key] = found
            self._inbox.put(found.part)

    def _forget_parts(self) -> None:
        """Remove the parts that are recorded now from where other workers have left them."""
        recorded = [each for each in self._heard if self._parts.is_known(each)]
        if recorded:
            with suppress(UnreachableError):  # the run has them until it is removed
                self._setup.transitions.remove_parts(self.record.run, recorded)

    def execute(self) -> Settlement:
        """Execute the run until it has ended, or can go on in another segment alone; return how it stands."""
        history = self._setup.transitions.store.read_before(self.record, self.record.segment)
        latest = self._change or history.last_change
        with ExitStack() as opened:
            world, program = self._enter_world(opened, latest)
            self._parts = getattr(world, "parts", self._parts)
            if self._stop:
                self._parts.stop()
            opened.callback(self._forget_parts)
            asked = self._limit(opened, world)
            most, start = program.plan.limits.parallel, THREADS.begin
            pool = opened.enter_context(open_pool(asked, most, self._inbox, start))
            with self._setup.turns.take():
                self._progress.restore(history, world, self._timers)
                self._hear_what_is_there()
                with self._parts.let_write(pool.put):
                    return self._go_on(world, pool)

    def _enter_world(self, opened: ExitStack, latest: Replanned | None) -> tuple[RunWorld, Program]:
        """Open the world of the run; a run that is cancelled ends even where its world cannot be opened."""
        setup, program = self._setup, self._progress.program
        try:
            return setup.enter_world(opened, self.record, program, latest)
        except RefusedRunError:
            if all(each.kind is not MessageKind.CANCEL for each in self._sent):
                raise
            cancelled = replace(setup, open_world=open_cancelled_world)
            return cancelled.enter_world(opened, self.record, program, latest)

    def _go_on(self, world: RunWorld, pool: RequestPool) -> Settlement:
        """Take event after event, each a step of the engine."""
        while self._progress.state.ended is None:
            keys = list(self._progress.state.pending)
            name = keys[0] if len(keys) == 1 else "event"
            entry = DBOS.run_step({"name": name}, partial(self._take_next, world, pool))
            if entry.startswith(STOP):
                return self._explain_stop(entry.removeprefix(STOP), world)
            _, event, times = read_entry(entry)
            self._take(event, times, world)
        return self._describe(RunPhase(self._progress.state.ended), self._progress.state.reason)

    def _limit(self, opened: ExitStack, world: RunWorld) -> World:
        """Return the world whose requests keep the limits of the database, and are for other workers, too."""
        permitted = PermittedWorld(world, self._setup.permits)
        if self._setup.fan_out is None:
            return permitted
        shared = FanOutWorld(permitted, self._setup.fan_out, self.record, self._parts, self.hear_part)
        self._answered_elsewhere = opened.enter_context(closing(shared)).answered_elsewhere
        self._find_begun = shared.find_begun
        return shared

    def _take(self, event: Event, times: EventTimes, world: RunWorld) -> None:
        """Advance; tell the world of an event that it has not brought about."""
        step = self._progress.follow(event)
        self._timers.take(step, times.at)
        if isinstance(event, Replanned):
            self._change, self._has_changed = None, True
        is_from_elsewhere = isinstance(event, Answered) and (
            event.key in self._answered_elsewhere or event.key in self._heard
        )
        if not self._is_live or is_from_elsewhere:
            world.observe(event, step)
        else:
            self._parts.observe(event)
        self._is_live = False

    def _hear_what_is_there(self) -> None:
        """Take the messages sent before, and the ends of waits that are over."""
        self.hear(self._sent)
        for found in self._left_parts:
            self.hear_part(found)
        for key, due in self.record.due.items():
            if key in self._progress.state.pending and due <= self.record.now:
                self._inbox.put(Answered(key, {}))

    def _take_next(self, world: RunWorld, pool: RequestPool) -> str:
        """Return the next event with the digest of what followed from the last one, or why the segment ends."""
        self._is_live = True
        redactor = self._setup.redactor
        if self._find_begun is not None:
            self._find_begun(self._progress.state.pending)
            self._find_begun = None
        try:
            event = self._take_last(pool) if self._stop else self._wait(world, pool)
            if event is None:
                return f"{STOP}{self._stop or Word.PARK}"
            effect = self._progress.state.pending.get(event.key) if isinstance(event, Answered) else None
            body = dump_event(redact_event(redactor, event, effect))
        except InterruptionError as interruption:
            return f"{STOP}{interruption.word}"
        except ProviderOutage as outage:
            return f"{STOP}{Word.OUTAGE}\n{json.dumps({**outage.to_json(), 'reason': self._setup.tell(outage)})}"
        except Exception as error:
            return f"{STOP}{Word.FAIL}\n{self._setup.tell(error)}"
        self._setup.count("events")
        return dump_entry(self._progress.digest, add_times(body, pool.take_times(event)))

    def _wait(self, world: RunWorld, pool: RequestPool) -> Event | None:
        """Return the next event, or None if only people and long waits can bring one."""
        if self._change is not None:  # before anything else: whoever sent it judged the state that the run has now
            return self._change
        pending = self._progress.state.pending
        wanted = {key: each for key, each in pending.items() if not is_for_people(each) or world.takes(each)}
        rests = {key: self._find_rest(each) for key, each in wanted.items() if isinstance(each, Wait)}
        open_ = {**wanted, **{key: Wait(key, milliseconds) for key, milliseconds in rests.items()}}
        while True:
            event = pool.take_news()
            waits = (isinstance(each, Wait) and each.milliseconds >= _LONG for each in open_.values())
            if event is None and all(waits) and all(map(world.overlaps, open_.values())):
                return None
            if event is None:
                with self._setup.turns.give_back():
                    event = pool.next_event(replace(self._progress.state, pending=open_))
            if self._is_wanted(event):
                return event

    def _take_last(self, pool: RequestPool) -> Event | None:
        """Return the next event before the segment ends; a worker that is told to end lets requests come to theirs."""
        while True:
            event = pool.last_event(self._progress.state, is_patient=self._stop == Word.DRAIN)
            if event is None or self._is_wanted(event):
                return event

    def _is_wanted(self, event: Event) -> bool:
        """Tell whether something follows from an event: somebody waits for an answer, and has no part of it twice."""
        if not isinstance(event, Answered):
            return True
        whole = whole_key(event.key)
        if whole is None:
            return event.key in self._progress.state.pending
        found = self._heard.get(event.key)
        is_lost = found is not None and found.part is event and not follows(found, self._parts)
        is_wanted = whole in self._progress.state.pending and not is_lost
        if not is_wanted:
            self._parts.refuse(event.key)
        return is_wanted

    def _explain_stop(self, entry: str, world: RunWorld) -> Settlement:
        """Return how the run stands for a reason that was recorded."""
        word, _, reason = entry.partition("\n")
        match word:
            case Word.PARK:
                return self._park(world)
            case Word.PAUSE:
                return self._describe(RunPhase.PAUSED, "paused")
            case Word.DRAIN:
                return replace(self._describe(RunPhase.ACTIVE, ""), goes_on=True)
            case Word.OUTAGE:
                return self._rest(read_outage(object_of(json.loads(reason))))
            case _:
                return self._describe(RunPhase.INTERRUPTED, reason)

    def _park(self, world: RunWorld) -> Settlement:
        pending = self._progress.state.pending.values()
        asked = tuple(each.key for each in pending if is_for_people(each) and not world.takes(each))
        reason = "waits for an answer" if asked else "waits for a time"
        return replace(self._describe(RunPhase.WAITING, reason), asked=asked)

    def _rest(self, outage: ProviderOutage) -> Settlement:
        """Return how the run stands that goes on by itself, later each time that nothing has happened in between."""
        last, count = object_of(self.record.summary.get(OUTAGE)), self._progress.count
        before = last.get("number") if last.get("events") == count else 0
        number = (before if isinstance(before, int) else 0) + 1
        settled = self._describe(RunPhase.INTERRUPTED, str(outage))
        summary = {**settled.summary, OUTAGE: {"number": number, "events": count}}
        seconds = spread(outage.find_rest(number), _CHANCE())
        return replace(settled, summary=summary, delay=ceil(seconds * 1000))

    def _find_rest(self, wait: Wait) -> int:
        """Return how many milliseconds of a wait are left."""
        if wait.key in self.record.due:
            return max(0, self.record.due[wait.key] - self.record.now - int((monotonic() - self._begun) * 1000))
        return self._timers.find_rest(wait)

    def _describe(self, phase: RunPhase, reason: str) -> Settlement:
        progress, has_changed = self._progress, self._has_changed
        pending = progress.state.pending.values()
        due = {each.key: self._find_rest(each) for each in pending if isinstance(each, Wait)}
        return Settlement(phase, reason, progress.digest, progress.describe(), due, has_changed=has_changed)
