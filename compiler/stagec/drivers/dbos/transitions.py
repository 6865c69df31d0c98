"""What moves a run from one standing to the next: one transaction each, which locks the row of the run first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import sqlalchemy as sa

from stagec.core.failure import Failure
from stagec.core.json import Object
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import quote
from stagec.drivers.dbos.run_records import APPLICATION_VERSION, RESUMABLE, RunPhase, RunRecord, make_storable, read_row
from stagec.drivers.dbos.run_store import RunStore
from stagec.drivers.dbos.tables import messages, runs, workflows
from stagec.drivers.history import dump_event, load_event
from stagec.drivers.messages import (
    LARGEST,
    MessageKind,
    OtherAnswerError,
    RunMessage,
    find_asked,
    message_to_json,
    name_answer,
    parse_message,
    write_message,
)
from stagec.runtime.exchange import Replanned
from stagec.world.questions import make_answer, read_decision

_CHANGE = "plan"
"""The name of the row, among the signals of a run, of the event with which it goes on under another plan."""
_MOST_WOKEN = 200
"""Runs that are woken at one look."""


@value
class Settlement:
    """How a run stands when a segment of it is over.

    `due` has the milliseconds until waits are over, by key, `asked` the keys that people can answer. With `delay`, the
    run wakes by itself after so many milliseconds. `goes_on` begins the next segment at once. `has_changed` tells that
    the change of the plan which was sent has been recorded.
    """

    phase: RunPhase
    reason: str = ""
    digest: str = ""
    summary: Object = NOTHING
    due: Mapping[str, int] = NOTHING
    asked: tuple[str, ...] = ()
    delay: int | None = None
    is_refusal: bool = False
    goes_on: bool = False
    has_changed: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing follows any more."""
        return self.phase in (RunPhase.DONE, RunPhase.FAILED, RunPhase.BLOCKED)


@value
class TakenUp:
    """A run that is to go on: its row, its signals, and the event with which its plan is to change, if any."""

    record: RunRecord
    sent: tuple[RunMessage, ...] = ()
    change: Replanned | None = None

    def is_in(self, segment: int) -> bool:
        """Tell whether it is to be executed in a segment."""
        return (self.record.segment, self.record.phase) == (segment, RunPhase.ACTIVE)


@value
class CourseChange:
    """The event with which a run goes on under another plan, and the segment to which the run had come for it."""

    event: Replanned
    segment: int


class Transitions:
    """Moves the runs of a store."""

    def __init__(self, store: RunStore) -> None:
        self.store = store
        self._database = store.database

    def settle(self, record: RunRecord, given: Settlement) -> bool:
        """Let a segment be over; return whether it was the one that its run is in.

        A run that would wait goes on if a signal for it has come meanwhile. One that has ended needs no signals, and so
        no lock: one statement changes its row, if it is still in this segment.
        """
        if given.is_over:
            return self._end(record, given)
        with self._database.transact() as connection:
            now = self._lock(connection, record.run)
            if now is None or (now.segment, now.phase) != (record.segment, RunPhase.ACTIVE):
                return False
            changes = self._describe(now, given)
            if given.has_changed:
                self._remove(connection, record.run, _CHANGE)
            sent = self._read_messages(connection, record.run)
            if MessageKind.CANCEL in sent or any(name_answer(key) in sent for key in given.asked) or given.goes_on:
                self._begin_next(connection, now, changes)
                return True
            if MessageKind.PAUSE in sent:
                reason = f"paused, by {sent[MessageKind.PAUSE].by}"
                changes |= {"phase": RunPhase.PAUSED, "reason": reason, "wake_at": None}
                self._remove(connection, record.run, MessageKind.PAUSE)
            self._change(connection, record.run, changes)
        return True

    def _end(self, record: RunRecord, given: Settlement) -> bool:
        is_own = sa.and_(runs.c.segment == record.segment, runs.c.phase == RunPhase.ACTIVE)
        changes = {**self._describe(record, given), "ended_at": self._database.now}
        with self._database.ask_once() as connection:
            ended = runs.update().where(runs.c.run == record.run, is_own).values(**changes)
            return connection.execute(ended).rowcount > 0

    def _describe(self, now: RunRecord, given: Settlement) -> dict[str, object]:
        """Return the columns that a settlement changes."""
        due = {key: now.now + each for key, each in given.due.items()}
        delays = [*given.due.values(), *([] if given.delay is None else [given.delay])]
        return {
            "phase": given.phase,
            "reason": make_storable(given.reason),
            "digest": given.digest or now.digest,
            "summary": json.dumps({**now.summary, **given.summary}),
            "due": json.dumps(due or dict(now.due) if given.is_refusal else due),
            "wake_at": now.now + min(delays) if delays and given.phase is RunPhase.WAITING else None,
            "refusals": now.refusals + 1 if given.is_refusal else 0,
            "ended_at": None,
        }

    def send(self, run: str, message: RunMessage, fits: Callable[[RunMessage], bool] = bool) -> None:
        """Keep a signal, and wake the run if that is what it waits for; the signal counts when this returns.

        Raises `OtherAnswerError` when another one of its name was first and fits, `Failure` for what nobody waits for.
        """
        body = json.dumps(message_to_json(message))
        if len(body) > LARGEST:
            raise Failure(f"no message can be sent: it has {len(body):,} characters, {LARGEST:,} at most")
        with self._database.transact() as connection:
            now = self._lock(connection, run)
            if now is None:
                raise Failure(f"no run is called {quote(run)} in {self._database.name}")
            if now.ended_at is not None:
                raise Failure(f"run {quote(run)} has ended as {now.phase}: there is nothing to {message.kind}")
            other = self._read_messages(connection, run).get(message.name)
            if other is not None and fits(other):
                raise OtherAnswerError(other.answer, other.by)
            self._remove(connection, run, message.name)
            row = {"run": run, "name": message.name, "body": body, "sent_at": now.now}
            connection.execute(messages.insert().values(row))
            self._obey(connection, now, message)

    def _obey(self, connection: sa.Connection, now: RunRecord, message: RunMessage) -> None:
        """Let a run that no segment executes do what a signal wants."""
        if message.kind is MessageKind.PAUSE:
            if now.phase is RunPhase.WAITING:
                reason = f"paused, by {message.by}"
                self._change(connection, now.run, {"phase": RunPhase.PAUSED, "reason": reason, "wake_at": None})
            elif now.phase in RESUMABLE:
                raise Failure(f"run {quote(now.run)} is {now.phase} already")
            if now.phase is RunPhase.WAITING:
                self._remove(connection, now.run, MessageKind.PAUSE)
        elif now.phase is RunPhase.WAITING or (message.kind is MessageKind.CANCEL and now.phase in RESUMABLE):
            self._begin_next(connection, now)

    def send_answer(self, run: str, key: str, *, yes: bool, by: str) -> RunMessage:
        """Answer a question of a run; raises `OtherAnswerError` when somebody was first, `Failure` for no question."""
        record = self.store.find(run)
        program = self.store.load_program(record)
        if record.ended_at is not None:
            raise Failure(f"run {quote(run)} has ended as {record.phase}: it asks nothing")
        effect = find_asked(program, self.store.read_history(record).events, key)
        message = write_message(MessageKind.ANSWER, by, key, make_answer(effect, yes=yes))
        self.send(run, message, lambda other: read_decision(effect, other.answer) is not None)
        return message

    def read_messages(self, run: str) -> dict[str, RunMessage]:
        """Return the signals of a run, by name."""
        with self._database.transact() as connection:
            return self._read_messages(connection, run)

    def take_up(self, run: str) -> TakenUp:
        """Return the row of a run and what was sent to it, by one statement, or raise `Failure`."""
        columns = (runs, self._database.now.label("now"), messages.c.name, messages.c.body)
        query = sa.select(*columns).outerjoin(messages, messages.c.run == runs.c.run).where(runs.c.run == run)
        with self._database.ask_once() as connection:
            rows = [dict(row) for row in connection.execute(query).mappings()]
        bodies = {row.pop("name"): row.pop("body") for row in rows}
        change, _ = bodies.pop(_CHANGE, None), bodies.pop(None, None)
        sent = [parse_message(each.encode()) for each in bodies.values()]
        record = read_row(rows[0]) if rows else self.store.find(run)
        return TakenUp(record, tuple(each for each in sent if each is not None), _read_change(change))

    def look(self, names: tuple[str, ...]) -> dict[str, dict[str, RunMessage]]:
        """Return the signals of several runs, by run and name."""
        found: dict[str, dict[str, RunMessage]] = {}
        with self._database.transact() as connection:
            is_signal = sa.and_(messages.c.run.in_(names), messages.c.name != _CHANGE)
            query = sa.select(messages.c.run, messages.c.body).where(is_signal)
            for run, body in connection.execute(query):
                message = parse_message(body.encode())
                if message is not None:
                    found.setdefault(run, {})[message.name] = message
        return found

    def resume(self, run: str, version: str = APPLICATION_VERSION, change: CourseChange | None = None) -> None:
        """Let a run go on that was paused or interrupted, with workers of a version; raises `Failure` for any other.

        With `change` it goes on under another plan: the first event of its next segment.
        """
        with self._database.transact() as connection:
            now = self._lock(connection, run)
            if now is None or now.phase not in RESUMABLE:
                told = "is not there any more" if now is None else f"is {now.phase}"
                raise Failure(f"run {quote(run)} {told}: there is nothing to resume")
            self._remove(connection, run, MessageKind.PAUSE)
            if change is not None:
                if change.segment != now.segment:
                    raise Failure(f"run {quote(run)} has gone on meanwhile: look at it again")
                self._remove(connection, run, _CHANGE)
                row = {"run": run, "name": _CHANGE, "body": dump_event(change.event), "sent_at": now.now}
                connection.execute(messages.insert().values(row))
            self._begin_next(connection, now, {"version": version, "refusals": 0})

    def wake_due(self) -> int:
        """Let the runs go on that have waited long enough; return how many."""
        with self._database.transact() as connection:
            is_due = sa.and_(runs.c.wake_at <= self._database.now, runs.c.phase == RunPhase.WAITING)
            names = connection.execute(sa.select(runs.c.run).where(is_due).limit(_MOST_WOKEN)).scalars().all()
        return sum(self._wake(name) for name in names)

    def list_broken(self, statuses: tuple[str, ...]) -> list[RunRecord]:
        """Return the active runs whose segment the engine has given up, and says so by one of these statuses."""
        is_given_up = workflows.c.status.in_(statuses)
        name = runs.c.run + sa.literal("/") + sa.cast(runs.c.segment, sa.Text)
        query = sa.select(runs, self._database.now.label("now")).join(workflows, workflows.c.workflow_uuid == name)
        with self._database.transact() as connection:
            found = connection.execute(query.where(runs.c.phase == RunPhase.ACTIVE, is_given_up)).mappings().all()
            return list(map(read_row, found))

    def _wake(self, run: str) -> bool:
        with self._database.transact() as connection:
            now = self._lock(connection, run)
            if now is None or now.phase is not RunPhase.WAITING or now.wake_at is None or now.wake_at > now.now:
                return False
            self._begin_next(connection, now)
        return True

    def _begin_next(self, connection: sa.Connection, now: RunRecord, changes: Mapping[str, object] = NOTHING) -> None:
        number, version = now.segment + 1, str(changes.get("version", now.version))
        begun = {"phase": RunPhase.ACTIVE, "segment": number, "wake_at": None, "reason": "", "ended_at": None}
        self._change(connection, now.run, {**changes, **begun})
        self.store.queues.enqueue(connection, now.run, number, replace(now, version=version))

    def _lock(self, connection: sa.Connection, run: str) -> RunRecord | None:
        """Return the row of a run, which nobody else changes before this transaction ends."""
        if self._database.is_sqlite:  # whoever reads first and writes then has no lock meanwhile
            connection.execute(runs.update().where(runs.c.run == run).values(run=run))
        query = sa.select(runs, self._database.now.label("now")).where(runs.c.run == run).with_for_update()
        row = connection.execute(query).mappings().one_or_none()
        return None if row is None else read_row(row)

    def _change(self, connection: sa.Connection, run: str, changes: Mapping[str, object]) -> None:
        connection.execute(runs.update().where(runs.c.run == run).values(**changes))

    def _read_messages(self, connection: sa.Connection, run: str) -> dict[str, RunMessage]:
        is_signal = sa.and_(messages.c.run == run, messages.c.name != _CHANGE)
        bodies = connection.execute(sa.select(messages.c.body).where(is_signal)).scalars()
        found = (parse_message(each.encode()) for each in bodies)
        return {each.name: each for each in found if each is not None}

    def _remove(self, connection: sa.Connection, run: str, name: str) -> None:
        connection.execute(messages.delete().where(messages.c.run == run, messages.c.name == name))


def _read_change(body: str | None) -> Replanned | None:
    event = None if body is None else load_event(body)
    return event if isinstance(event, Replanned) else None
