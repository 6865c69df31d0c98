"""Transitions between the states of a stored run: one transaction each, which locks the row of the run first."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping

import sqlalchemy as sa

from stagec.core.failure import Failure
from stagec.core.value import NOTHING, replace
from stagec.core.words import quote
from stagec.runtime.drivers.dbos.database import messages, runs, workflows
from stagec.runtime.drivers.dbos.run_records import (
    APPLICATION_VERSION,
    RESUMABLE,
    CourseChange,
    FoundPart,
    RunPhase,
    RunRecord,
    Settlement,
    TakenUp,
    make_storable,
    read_row,
)
from stagec.runtime.drivers.dbos.run_store import RunStore
from stagec.runtime.drivers.history import dump_event, load_event
from stagec.runtime.drivers.messages import (
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
from stagec.runtime.machine.exchange import Answered, Replanned, number_of
from stagec.runtime.world.questions import make_answer, read_decision

_CHANGE = "plan"
"""The name of the row, among the signals of a run, of the event with which it goes on under another plan."""
_PART = "part "
"""The prefix of the names of rows, among the signals of a run, that are parts of answers for its worker to record."""
_IS_SIGNAL = sa.and_(messages.c.name != _CHANGE, sa.not_(messages.c.name.startswith(_PART)))
_MOST_WOKEN = 50
"""Runs that are woken at one look, in one transaction: its locks must not be held for long."""


class Transitions:
    """Moves the runs of a store."""

    def __init__(self, store: RunStore) -> None:
        self.store = store
        self._database = store.database

    def settle(self, record: RunRecord, given: Settlement, heard: Iterable[RunMessage] = ()) -> bool:
        """Let a segment be over; return whether it was the one that its run is in.

        A run that would wait goes on if a signal for it has come since the segment took it up, with the signals
        `heard`. One that has ended needs no signals, and so no lock: one statement changes its row, if it is still in
        this segment.
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
            is_cancelled = MessageKind.CANCEL in sent and MessageKind.CANCEL not in {each.name for each in heard}
            if given.is_interruption or is_cancelled:  # then a pause means nothing any more
                self._remove(connection, record.run, MessageKind.PAUSE)
            if given.goes_on or is_cancelled or any(name_answer(key) in sent for key in given.asked):
                self._begin_next(connection, now, changes)
                return True
            if given.is_interruption:  # a segment that heard of a cancellation could not end the run: ask once more
                self._remove(connection, record.run, MessageKind.CANCEL)
            elif MessageKind.PAUSE in sent:
                changes |= self._pause(connection, now, sent[MessageKind.PAUSE])
            self._change(connection, record.run, changes)
        return True

    def _pause(self, connection: sa.Connection, now: RunRecord, message: RunMessage) -> dict[str, object]:
        """Return the columns that a pause changes; a run that has not begun keeps the time of its beginning."""
        self._remove(connection, now.run, MessageKind.PAUSE)
        wake_at = now.wake_at if now.segment < 0 else None
        return {"phase": RunPhase.PAUSED, "reason": f"paused, by {message.by}", "wake_at": wake_at}

    def _end(self, record: RunRecord, given: Settlement) -> bool:
        is_own = sa.and_(runs.c.segment == record.segment, runs.c.phase == RunPhase.ACTIVE)
        changes = {**self._describe(record, given), "ended_at": self._database.now}
        with self._database.ask_once() as connection:
            ended = runs.update().where(runs.c.run == record.run, is_own).values(**changes)
            return connection.execute(ended).rowcount > 0

    def _describe(self, now: RunRecord, given: Settlement) -> dict[str, object]:
        """Return the columns that a settlement changes."""
        due = {key: now.now + each for key, each in given.due.items()}
        delays = [*(given.due.values() if given.phase is RunPhase.WAITING else ())]
        delays += [] if given.delay is None else [given.delay]
        return {
            "phase": given.phase,
            "reason": make_storable(given.reason),
            "digest": given.digest or now.digest,
            "summary": json.dumps({**now.summary, **given.summary}),
            "due": json.dumps(due or dict(now.due) if given.is_refusal else due),
            "wake_at": now.now + min(delays) if delays else None,
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
            if now.phase is RunPhase.WAITING or now.rests:
                self._change(connection, now.run, self._pause(connection, now, message))
            elif now.phase in RESUMABLE:
                raise Failure(f"run {quote(now.run)} is {now.phase} already")
        elif now.phase is RunPhase.WAITING or (message.kind is MessageKind.CANCEL and now.phase in RESUMABLE):
            self._begin_next(connection, now)

    def send_answer(self, run: str, key: str, *, yes: bool, by: str) -> RunMessage:
        """Answer a question of a run; raises `OtherAnswerError` when somebody was first, `Failure` for no question."""
        record = self.store.find(run)
        program = self.store.load_program(record)
        if record.ended_at is not None:
            raise Failure(f"run {quote(run)} has ended as {record.phase}: no question waits")
        if record.segment < 0:
            raise Failure(f"run {quote(run)} has not started: no question waits")
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
        sent = _list_messages(run, is_file=self._database.is_sqlite).label("sent")
        query = sa.select(runs, self._database.now.label("now"), sent).where(runs.c.run == run)
        with self._database.ask_once() as connection:
            row = connection.execute(query).mappings().one_or_none()
        if row is None:
            return TakenUp(self.store.find(run))
        columns = dict(row)
        bodies = dict(json.loads(columns.pop("sent") or "[]"))
        change = _read_change(bodies.pop(_CHANGE, None))
        parts = _read_parts({name: bodies.pop(name) for name in tuple(bodies) if name.startswith(_PART)})
        messages_sent = [parse_message(each.encode()) for each in bodies.values()]
        return TakenUp(read_row(columns), tuple(each for each in messages_sent if each is not None), change, parts)

    def send_part(self, record: RunRecord, found: FoundPart) -> None:
        """Keep a part of an answer until the worker of the run records it; raise `Failure` if nobody needs it.

        That is so when the run is in another segment now, or another worker has found a part of the same key.
        """
        key = found.part.key
        row = {"run": record.run, "name": f"{_PART}{key}", "body": f"{found.after}\n{dump_event(found.part)}"}
        with self._database.transact() as connection:
            now = self._lock(connection, record.run)
            if now is not None and (now.segment, now.phase) == (record.segment, RunPhase.ACTIVE):
                insert = self.store.insert(messages).on_conflict_do_nothing().returning(messages.c.name)
                if connection.execute(insert, [{**row, "sent_at": now.now}]).scalar() is not None:
                    return
        raise Failure(f"nobody needs the part {quote(key)} any more")

    def read_parts(self, names: Collection[str]) -> dict[str, tuple[FoundPart, ...]]:
        """Return the parts of answers that were kept for some runs, by run."""
        is_part = sa.and_(messages.c.run.in_(names), messages.c.name.startswith(_PART))
        with self._database.transact() as connection:
            rows = connection.execute(sa.select(messages.c.run, messages.c.name, messages.c.body).where(is_part)).all()
        found: dict[str, dict[str, str]] = {}
        for run, name, body in rows:
            found.setdefault(run, {})[name] = body
        return {run: _read_parts(bodies) for run, bodies in found.items()}

    def remove_parts(self, run: str, keys: Iterable[str]) -> None:
        """Forget parts of answers, by their keys, that the worker of the run has recorded."""
        names = [f"{_PART}{key}" for key in keys]
        with self._database.transact() as connection:
            connection.execute(messages.delete().where(messages.c.run == run, messages.c.name.in_(names)))

    def look(self, names: tuple[str, ...]) -> dict[str, dict[str, RunMessage]]:
        """Return the signals of several runs, by run and name."""
        found: dict[str, dict[str, RunMessage]] = {}
        with self._database.transact() as connection:
            is_signal = sa.and_(messages.c.run.in_(names), _IS_SIGNAL)
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
                told = "no longer exists" if now is None else f"is {now.phase}"
                raise Failure(f"run {quote(run)} {told}: there is nothing to resume")
            self._remove(connection, run, MessageKind.PAUSE)
            if change is not None:
                if change.segment != now.segment:
                    raise Failure(f"run {quote(run)} has changed meanwhile: check its state again")
                self._remove(connection, run, _CHANGE)
                row = {"run": run, "name": _CHANGE, "body": dump_event(change.event), "sent_at": now.now}
                connection.execute(messages.insert().values(row))
            changes = {"version": version, "refusals": 0}
            if now.segment < 0 and now.wake_at is not None and now.wake_at > now.now:
                self._change(connection, run, {**changes, "phase": RunPhase.WAITING, "reason": "begins later"})
            else:
                self._begin_next(connection, now, changes)

    def wake_due(self) -> int:
        """Let runs go on that have waited or rested long enough, besides those that another worker wakes.

        Returns how many.
        """
        with self._database.transact() as connection:
            now = connection.execute(sa.select(self._database.now)).scalar_one()  # a constant can be found by the index
            is_asleep = runs.c.phase.in_((RunPhase.WAITING, RunPhase.INTERRUPTED))
            is_due = sa.and_(runs.c.wake_at <= now, is_asleep)
            query = sa.select(runs, sa.literal(now, sa.BigInteger).label("now")).where(is_due).order_by(runs.c.wake_at)
            if self._database.is_sqlite:  # takes the lock of the file before anything is read
                connection.execute(runs.update().where(is_due).values(run=runs.c.run))
            rows = connection.execute(query.limit(_MOST_WOKEN).with_for_update(skip_locked=True)).mappings().all()
            for each in map(read_row, rows):
                self._begin_next(connection, each)
        return len(rows)

    def list_broken(self, statuses: tuple[str, ...]) -> list[RunRecord]:
        """Return the active runs whose segment the engine has given up, and says so by one of these statuses."""
        is_given_up = workflows.c.status.in_(statuses)
        name = runs.c.run + sa.literal("/") + sa.cast(runs.c.segment, sa.Text)
        query = sa.select(runs, self._database.now.label("now")).join(workflows, workflows.c.workflow_uuid == name)
        with self._database.transact() as connection:
            found = connection.execute(query.where(runs.c.phase == RunPhase.ACTIVE, is_given_up)).mappings().all()
            return list(map(read_row, found))

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
        is_signal = sa.and_(messages.c.run == run, _IS_SIGNAL)
        bodies = connection.execute(sa.select(messages.c.body).where(is_signal)).scalars()
        found = (parse_message(each.encode()) for each in bodies)
        return {each.name: each for each in found if each is not None}

    def _remove(self, connection: sa.Connection, run: str, name: str) -> None:
        connection.execute(messages.delete().where(messages.c.run == run, messages.c.name == name))


def _read_change(body: str | None) -> Replanned | None:
    event = None if body is None else load_event(body)
    return event if isinstance(event, Replanned) else None


def _read_parts(bodies: Mapping[str, str]) -> tuple[FoundPart, ...]:
    """Return the parts in some rows, the parts of each answer in the order of their numbers."""
    found = []
    for after, _, body in (each.partition("\n") for each in bodies.values()):
        event = load_event(body)
        if isinstance(event, Answered):
            found.append(FoundPart(event, after))
    return tuple(sorted(found, key=lambda each: number_of(each.part.key)))


def _list_messages(run: str, *, is_file: bool) -> sa.ColumnElement[str]:
    """Return the signals of a run as one value, so that the row of the run is sent once: `[[name, body], …]`."""
    pair = (sa.func.json_array if is_file else sa.func.json_build_array)(messages.c.name, messages.c.body)
    gather = sa.func.json_group_array if is_file else sa.func.json_agg
    gathered = sa.select(gather(pair)).where(messages.c.run == run)
    return sa.cast(gathered.scalar_subquery(), sa.Text)
