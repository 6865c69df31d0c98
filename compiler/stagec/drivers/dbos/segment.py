"""One segment of a run: the part of it that a worker executes at once, each event a step of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from time import monotonic
from typing import Protocol

from dbos import DBOS

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, object_of
from stagec.core.secrets import Redactor
from stagec.core.value import replace, value
from stagec.drivers.dbos.permits import Permits, PermittedWorld
from stagec.drivers.dbos.run_records import RunPhase, RunRecord, make_storable
from stagec.drivers.dbos.run_store import STOP, dump_entry, read_entry
from stagec.drivers.dbos.transitions import Settlement, Transitions
from stagec.drivers.history import History, add_times, dump_event
from stagec.drivers.messages import MessageKind, RunMessage
from stagec.drivers.redaction import redact_event
from stagec.drivers.replay import digest_step, find_difference
from stagec.drivers.requests import Inbox, InterruptionError, RequestPool, open_pool
from stagec.drivers.usage_ledger import UsageLedger, total_to_json
from stagec.runtime import Program, State, advance, load
from stagec.runtime.exchange import Answered, Cancelled, Effect, Event, Replanned, Wait
from stagec.runtime.state import StepResult
from stagec.world.questions import is_for_people, list_open_questions, question_to_json

_LONG = 2_000
"""Milliseconds from which on a wait holds nothing."""


class RefusedRunError(Exception):
    """A run that this worker cannot execute; others may."""


class Word:
    """Why a segment ends, as its last step records it."""

    PARK, PAUSE, DRAIN, FAIL = "park", "pause", "drain", "fail"


class RunWorld(Protocol):
    """What answers the requests of one run; `takes` tells of a question to people whether it answers that, too.

    `name_provider` names the provider of models that a request goes to, for the limits that hold there.
    """

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request may be under way beside others."""

    def cancel(self, key: str) -> None:
        """End a request whose answer nobody needs any more."""

    def takes(self, effect: Effect) -> bool:
        """Tell whether it answers a request."""

    def name_provider(self, effect: Effect) -> str:
        """Return the name of the provider of models that a request goes to, the empty text for any other."""

    def observe(self, event: Event, step: StepResult) -> None:
        """Take what has happened to the run before this process had it."""


OpenWorld = Callable[[RunRecord, Program], AbstractContextManager[RunWorld]]
"""Makes the world of a run; nothing that it has started is left when the body ends. Raises `Failure`."""


@value
class SegmentSetup:
    """What executes segments: what moves their runs, makes worlds, takes secrets out of events, and limits requests."""

    transitions: Transitions
    open_world: OpenWorld
    redactor: Redactor
    permits: Permits
    count: Callable[[str], None]


class Segment:
    """A segment of a run, while it is under way; signals come in other threads."""

    def __init__(self, setup: SegmentSetup, record: RunRecord, program: Program, sent: Iterable[RunMessage]) -> None:
        self._setup, self.record, self._program, self._sent = setup, record, program, sent
        self._inbox = Inbox()
        self._told: set[str] = set()
        self._since: dict[str, float] = {}
        self._stop = ""
        self._state, self._digest, self._count = State(), "", 0
        self._ledger = UsageLedger()
        self._begun, self._is_live = monotonic(), False
        self._change: Replanned | None = None
        self._latest: Replanned | None = None
        self._has_changed = False

    def stop(self, word: str, *, at_once: bool = False) -> None:
        """Let it end when the next event is recorded, or at once; what is under way then is asked again."""
        self._stop = self._stop or word
        if at_once:
            self._inbox.put(InterruptionError(word))

    def hear(self, messages: Iterable[RunMessage]) -> None:
        """Take signals, each once."""
        for message in messages:
            if message.id not in self._told:
                self._told.add(message.id)
                if message.kind is MessageKind.PAUSE:
                    self.stop(Word.PAUSE, at_once=True)
                else:
                    answer = {**object_of(message.answer), "by": message.by, "message": message.id}
                    is_cancelled = message.kind is MessageKind.CANCEL
                    self._inbox.put(Cancelled() if is_cancelled else Answered(message.key, answer))

    def execute(self) -> Settlement:
        """Execute the run until it has ended, or can go on in another segment alone; return how it stands."""
        history = self._setup.transitions.store.read_before(self.record, self.record.segment)
        program = self._find_latest(history)
        with ExitStack() as opened:
            world = self._open_world(opened, program)
            self._restore(history, world)
            self._hear_what_is_there()
            asked = PermittedWorld(world, self._setup.permits)
            pool = opened.enter_context(open_pool(asked, program.plan.limits.parallel, self._inbox))
            while self._state.ended is None:
                keys = list(self._state.pending)
                name = keys[0] if len(keys) == 1 else "event"
                entry = DBOS.run_step({"name": name}, partial(self._take_next, world, pool))
                if entry.startswith(STOP):
                    return self._explain_stop(entry.removeprefix(STOP), world)
                self._take(read_entry(entry)[1], world)
        return self._describe(RunPhase(self._state.ended), self._state.reason)

    def _find_latest(self, history: History) -> Program:
        """Return the program with which the run goes on, the one of a change that somebody has sent if there is any."""
        self._change = self._setup.transitions.read_change(self.record.run)
        self._latest = self._change or history.last_change
        return self._program if self._latest is None else load(self._latest.plan.encode())

    def _open_world(self, opened: ExitStack, program: Program) -> RunWorld:
        latest, record = self._latest, self.record
        if latest is not None:
            record = replace(record, plan=latest.digest, signature=latest.signature)
        try:
            return opened.enter_context(self._setup.open_world(record, program))
        except Failure as failure:
            raise RefusedRunError(str(failure)) from failure

    def _take(self, event: Event, world: RunWorld) -> None:
        """Advance; tell the world of an event that an earlier process has recorded."""
        step = self._follow(event)
        if isinstance(event, Replanned):
            self._change, self._has_changed = None, True
        if not self._is_live:
            world.observe(event, step)
        self._is_live = False

    def _restore(self, history: History, world: RunWorld) -> None:
        """Come to where the segments before have come; raise `Failure` when something else follows now than did."""
        for event, known in zip(history.events, history.step_digests, strict=True):
            step = self._follow(event)
            if find_difference(self._count - 1, step, known) is not None:
                told = f"something else follows from event {self._count - 1} now than when it happened"
                raise Failure(f"{told}: it was run by another stagec")
            world.observe(event, step)

    def _follow(self, event: Event) -> StepResult:
        step = advance(self._program, self._state, event)
        self._digest, self._state = digest_step(self._count, step), step.state
        self._program = step.program or self._program
        self._count += 1
        self._ledger.take(event, step)
        return step

    def _hear_what_is_there(self) -> None:
        """Take the signals that were sent before, and the ends of waits that are over."""
        self.hear(self._sent)
        for key, due in self.record.due.items():
            if key in self._state.pending and due <= self.record.now:
                self._inbox.put(Answered(key, {}))

    def _take_next(self, world: RunWorld, pool: RequestPool) -> str:
        """Return the next event with the digest of what followed from the last one, or why the segment ends."""
        self._is_live = True
        redactor = self._setup.redactor
        try:
            event = None if self._stop else self._wait(world, pool)
            if event is None:
                return f"{STOP}{self._stop or Word.PARK}"
            effect = self._state.pending.get(event.key) if isinstance(event, Answered) else None
            body = dump_event(redact_event(redactor, event, effect))
        except InterruptionError as interruption:
            return f"{STOP}{interruption.word}"
        except Failure as failure:
            return f"{STOP}{Word.FAIL}\n{make_storable(redactor.redact_output(str(failure)))}"
        except Exception as error:
            told = make_storable(redactor.redact_output(f"{type(error).__name__}: {error}"))
            return f"{STOP}{Word.FAIL}\ninternal error: {told}"
        self._setup.count("events")
        return dump_entry(self._digest, add_times(body, pool.take_times(event)))

    def _wait(self, world: RunWorld, pool: RequestPool) -> Event | None:
        """Return the next event, or nothing when only people and long waits can bring one."""
        if self._change is not None:  # before anything else: whoever sent it judged the state that the run has now
            return self._change
        pending = self._state.pending
        open_ = {key: each for key, each in pending.items() if not is_for_people(each) or world.takes(each)}
        for key in open_:
            self._since.setdefault(key, monotonic())
        while True:
            event = pool.take_news()
            waits = (isinstance(each, Wait) and each.milliseconds >= _LONG for each in open_.values())
            if event is None and all(waits) and all(map(world.overlaps, open_.values())):
                return None
            event = event or pool.next_event(replace(self._state, pending=open_))
            if not isinstance(event, Answered) or event.key in pending:
                return event

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
            case _:
                return self._describe(RunPhase.INTERRUPTED, reason)

    def _park(self, world: RunWorld) -> Settlement:
        pending = self._state.pending.values()
        asked = tuple(each.key for each in pending if is_for_people(each) and not world.takes(each))
        waits = {each.key: self._find_rest(each) for each in pending if isinstance(each, Wait)}
        reason = "waits for an answer" if asked else "waits for a time"
        return replace(self._describe(RunPhase.WAITING, reason), asked=asked, due=waits)

    def _find_rest(self, wait: Wait) -> int:
        """Return how many milliseconds of a wait are left."""
        if wait.key in self.record.due:
            return max(0, self.record.due[wait.key] - self.record.now - int((monotonic() - self._begun) * 1000))
        return max(0, wait.milliseconds - int((monotonic() - self._since.get(wait.key, monotonic())) * 1000))

    def _describe(self, phase: RunPhase, reason: str) -> Settlement:
        used = self._ledger.total
        questions = [
            question_to_json(each) for each in list_open_questions(self._program, self._state.pending.values())
        ]
        summary: Object = {
            "executions": self._state.executions,
            "events": self._count,
            "plan": self._program.plan.id,
            "digest": self._program.digest,
            "usage": None if used is None else total_to_json(used),
            "questions": questions if self._state.ended is None else [],
        }
        return Settlement(phase, reason, self._digest, summary, has_changed=self._has_changed)
