"""The runs of a database: submissions, their status and their events; nothing here executes a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from operator import attrgetter
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from stagec.core.failure import Failure
from stagec.core.json import Json, list_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.ir.plan.loader import PlanError, read_frame
from stagec.runtime.drivers.dbos.database import Database, documents, messages, runs, steps, workers, workflows
from stagec.runtime.drivers.dbos.queues import REQUEST, Queues
from stagec.runtime.drivers.dbos.run_records import (
    APPLICATION_VERSION,
    ENDED,
    RunPhase,
    RunRecord,
    Submission,
    name_segment,
    read_row,
)
from stagec.runtime.drivers.history import EventTimes, History, load_timed_event, strip_times
from stagec.runtime.drivers.replay import fold_run, replay_twice
from stagec.runtime.machine import Program, State, load
from stagec.runtime.machine.exchange import Event

T = TypeVar("T")
_CHUNK = 500
"""Runs, or segments, in one statement."""
_PLANS = 200
"""Programs that are kept."""
_SEARCHED = 5_000
"""Names among which the nearest is looked for."""
Recorded = tuple[int, int, tuple[str, Event, EventTimes] | None]
"""A segment, the number of a step in it, and the step digest, event and times that it has recorded, if it has."""
STOP = "!"
"""The beginning of a step's output that tells why a segment ends; nothing of it belongs to the journal."""


class UnknownPlanError(Failure):
    """An unchanged submitted plan that this version of stagec cannot run."""


class RunStore:
    """Reads and submits the runs of a database."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.queues = Queues(database)
        self._programs: dict[str, Program] = {}

    def submit(self, given: Iterable[Submission]) -> Iterator[bool]:
        """Begin runs; yield for each whether it is new. One that is there already, with the same, is not begun twice.

        Raises `Failure` for the name of another run; those before it in the same statement have not begun then.
        """
        for part in chunk(given):
            new = self._submit_some(part)
            yield from (each.run in new for each in part)

    def _submit_some(self, given: Sequence[Submission]) -> set[str]:
        """Begin runs in one transaction; return the names of those that are new."""
        with self.database.transact() as connection:
            self.keep_documents(connection, given)
            now = connection.execute(sa.select(self.database.now)).scalar_one()
            rows = [self.make_row(each, now) for each in sorted(given, key=attrgetter("run"))]
            insert = self.insert(runs).on_conflict_do_nothing().returning(runs.c.run)
            new = set(connection.execute(insert, rows).scalars())
            for each in given:
                if each.run not in new:
                    self._refuse_other(connection, each)
                elif not each.delay:
                    self.queues.enqueue(connection, each.run, 0, each)
        return new

    def insert(self, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
        """Return the statement that inserts rows; it can skip rows that exist."""
        return sqlite.insert(table) if self.database.is_sqlite else postgresql.insert(table)

    def keep_documents(self, connection: sa.Connection, given: Sequence[Submission]) -> None:
        """Keep plans and scenarios, each once."""
        found = {each.digest: each.plan for each in given}
        texts = (text for each in given for text in (each.scenario, each.prologue) if text is not None)
        found |= {name_text(text): text.encode() for text in texts}
        rows = [{"digest": digest, "body": body} for digest, body in sorted(found.items())]  # all in the same order
        connection.execute(self.insert(documents).on_conflict_do_nothing(), rows)

    def make_row(self, given: Submission, now: int) -> dict[str, object]:
        """Return the row of a run that is to begin."""
        is_later = given.delay > 0
        return {
            "run": given.run,
            "plan": given.digest,
            "version": given.version,
            "tenant": given.tenant,
            "priority": given.priority,
            "entry": given.entry,
            "inputs": json.dumps(dict(given.inputs), allow_nan=False),  # ASCII: no database takes half characters
            "scenario": None if given.scenario is None else name_text(given.scenario),
            "signature": given.signature,
            "prologue": None if given.prologue is None else name_text(given.prologue),
            "phase": RunPhase.WAITING if is_later else RunPhase.ACTIVE,
            "segment": -1 if is_later else 0,
            "refusals": 0,
            "wake_at": now + given.delay if is_later else None,
            "due": "{}",
            "created_at": now,
            "ended_at": None,
            "reason": "begins later" if is_later else "",
            "digest": "",
            "summary": "{}",
            "machine": given.machine,
        }

    def _refuse_other(self, connection: sa.Connection, given: Submission) -> None:
        """Raise `Failure` unless the run of a name is one with the same."""
        wanted = self.make_row(given, 0)
        row = dict(connection.execute(sa.select(runs).where(runs.c.run == given.run)).mappings().one())
        differing = find_differing(row, wanted, ("plan", "entry", "inputs", "scenario", "prologue", "tenant"))
        if differing:
            raise Failure(f"{self.database.name} already has a run {quote(given.run)} with {differing}")

    def find(self, run: str) -> RunRecord:
        """Return the row of a run, or raise `Failure`."""
        with self.database.transact() as connection:
            found = next(self._read(connection, runs.c.run == run), None) if run.isprintable() else None
            if found is not None:  # no database takes all characters, and no run has a name with others
                return found
            names = connection.execute(sa.select(runs.c.run).limit(_SEARCHED)).scalars().all()
        raise Failure(f"no run is called {quote(run)} in {self.database.name}{hint(run, NameIndex(names))}")

    def has(self, run: str) -> bool:
        """Tell whether there is a run of a name."""
        query = sa.select(runs.c.run).where(runs.c.run == run)
        with self.database.transact() as connection:
            return run.isprintable() and connection.execute(query).scalar() is not None

    def list_records(self, phases: Sequence[RunPhase] = tuple(RunPhase)) -> list[RunRecord]:
        """Return the rows of all runs in some phases, by name."""
        with self.database.transact() as connection:
            return list(self._read(connection, runs.c.phase.in_(phases)))

    def _read(self, connection: sa.Connection, condition: sa.ColumnElement[bool]) -> Iterator[RunRecord]:
        query = sa.select(runs, self.database.now.label("now")).where(condition).order_by(runs.c.run)
        return map(read_row, connection.execute(query).mappings().all())

    def count_phases(self) -> dict[RunPhase, int]:
        """Return how many runs stand how."""
        with self.database.transact() as connection:
            found = connection.execute(sa.select(runs.c.phase, sa.func.count()).group_by(runs.c.phase)).all()
        counts = {RunPhase(phase): count for phase, count in found}
        return {phase: counts[phase] for phase in RunPhase if phase in counts}

    def count_versions(self) -> dict[str, int]:
        """Return how many runs that have not ended belong to each version of the format and the machine."""
        query = sa.select(runs.c.version, sa.func.count()).where(runs.c.phase.in_(set(RunPhase) - set(ENDED)))
        with self.database.transact() as connection:
            found = connection.execute(query.group_by(runs.c.version).order_by(runs.c.version)).all()
        return {str(row[0]): int(row[1]) for row in found}

    def list_workers(self) -> Sequence[sa.Row[tuple[object, ...]]]:
        """Return the rows of the workers that live, or have died a moment ago."""
        with self.database.transact() as connection:
            return connection.execute(sa.select(workers).order_by(workers.c.worker)).all()

    def list_queued(self, records: Iterable[RunRecord]) -> set[str]:
        """Return the runs among some that wait in a queue for a worker."""
        names = {each.workflow: each.run for each in records if each.phase is RunPhase.ACTIVE}
        found: set[str] = set()
        with self.database.transact() as connection:
            for part in chunk(names):
                is_queued = workflows.c.status.in_(("ENQUEUED", "DELAYED"))
                query = sa.select(workflows.c.workflow_uuid).where(workflows.c.workflow_uuid.in_(part), is_queued)
                found.update(connection.execute(query).scalars())
        return {names[each] for each in found}

    def load_document(self, digest: str) -> bytes:
        """Return a plan or a scenario; raise `Failure` when it no longer exists."""
        with self.database.transact() as connection:
            found = connection.execute(sa.select(documents.c.body).where(documents.c.digest == digest)).scalar()
        if found is None:
            raise Failure(f"the document {quote(digest)} is not in {self.database.name}")
        return bytes(found)

    def load_plan(self, record: RunRecord) -> bytes:
        """Return the plan of a run, the one that was submitted, or raise `Failure`."""
        data = self.load_document(record.plan)
        try:
            if read_frame(data)[0] == record.plan:
                return data
        except PlanError as error:
            raise Failure(f"the plan of run {quote(record.run)} is refused: {error}") from error
        raise Failure(f"the plan of run {quote(record.run)} is refused: it is not the one that was submitted")

    def load_program(self, record: RunRecord) -> Program:
        """Return the program of a run, which is made once for each plan; raise `Failure` for a plan that is refused."""
        program = self._programs.get(record.plan)
        if program is None:
            if len(self._programs) >= _PLANS:  # while other threads may read and write it
                self._programs.clear()
            try:
                program = self._programs[record.plan] = load(self.load_plan(record))
            except PlanError as error:
                raise UnknownPlanError(f"the plan of run {quote(record.run)} is refused: {error}") from error
        return program

    def load_scenario(self, record: RunRecord) -> Json:
        """Return the scenario with which a run was submitted, None without one; raise `Failure` if it was altered."""
        if record.scenario is None:
            return None
        text = self.load_document(record.scenario).decode()
        if name_text(text) != record.scenario:
            raise Failure(f"the scenario of run {quote(record.run)} is not the one that was submitted")
        found: Json = json.loads(text)
        return found

    def fold(self, record: RunRecord) -> tuple[Program, State]:
        """Return the program with which a run goes on, and where it stands."""
        return fold_run(self.load_program(record), self.read_history(record).events)

    def refuse_other_machine(self, record: RunRecord, history: History) -> None:
        """Raise `Failure` for a run of another version of the machine in which something else happens here."""
        if record.version == APPLICATION_VERSION:
            return
        if not isinstance(replay_twice(load(history.plan), load(history.plan), history), State):
            told = f"it was run by {record.version}, and this is {APPLICATION_VERSION}, which replays it differently"
            raise Failure(f"run {quote(record.run)} cannot be resumed: {told}")

    def read_history(self, record: RunRecord) -> History:
        """Return the history of a run."""
        return replace(self.read_before(record, record.segment + 1), plan=self.load_plan(record))

    def read_before(self, record: RunRecord, segment: int) -> History:
        """Return the history of a run in the segments before one, without the plan."""
        found = self.read_entries(replace(record, segment=segment - 1))
        entries = [entry for _, _, entry in found if entry is not None]
        before_all = [] if record.prologue is None else list_of(json.loads(self.load_document(record.prologue)))
        entries = [*(read_entry(str(each)) for each in before_all), *entries]
        begun = (("", record.started, EventTimes(record.created_at * 1_000_000)),)
        digests, events, times = zip(*(begun + tuple(entries)), strict=True)
        is_known = len(events) == record.summary.get("events")  # not if a segment has recorded more, and failed then
        following = (*digests[1:], record.digest if is_known else "")
        return History(b"", record.plan, events, following, times=strip_times(times))

    def read_entries(self, record: RunRecord, first: int = 0, after: int = -1) -> list[Recorded]:
        """Return the records of the steps of a run's segments, from the one after a step in a segment on."""
        order = {name_segment(record.run, number): number for number in range(first, record.segment + 1)}
        found: list[tuple[int, int, str]] = []
        for part in chunk(order):  # the first segment has nothing before it, and asks nothing
            is_new = sa.or_(steps.c.workflow_uuid != name_segment(record.run, first), steps.c.function_id > after)
            query = sa.select(steps).where(steps.c.workflow_uuid.in_(part), steps.c.output.is_not(None), is_new)
            with self.database.transact() as connection:
                rows = connection.execute(query).all()
            found += [(order[row.workflow_uuid], row.function_id, row.output) for row in rows]
        return [(segment, step, read_output(output)) for segment, step, output in sorted(found)]


def find_differing(row: Mapping[str, object], wanted: Mapping[str, object], names: Sequence[str]) -> str:
    """Return the first column among some that differs, in words; empty if none does."""
    differing = [name for name in names if _canonical(name, row[name]) != _canonical(name, wanted[name])]
    told = {"inputs": "other inputs", "cron": "another cron expression", "catch_up": "another catch-up rule"}
    return told.get(differing[0], f"another {differing[0].replace('_', ' ')}") if differing else ""


def _canonical(name: str, cell: object) -> object:
    """Return a cell as it is compared: the order of inputs means nothing; a text, because for Python True is 1."""
    return json.dumps(json.loads(str(cell)), sort_keys=True) if name == "inputs" else cell


def chunk(given: Iterable[T], most: int = _CHUNK) -> Iterator[tuple[T, ...]]:
    """Yield all of something in parts of a size that one statement takes."""
    each = iter(given)
    while part := tuple(islice(each, most)):
        yield part


def name_text(text: str) -> str:
    """Return the digest under which a text is kept."""
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def dump_entry(step_digest: str, body: str) -> str:
    """Return the output of a step: the step digest of the event before, and an event as JSON."""
    return f"{step_digest}\n{body}"


def read_entry(entry: str) -> tuple[str, Event, EventTimes]:
    """Return the step digest and the event in the output of a step; raise `Failure` for anything else."""
    digest, _, body = entry.partition("\n")
    try:
        return digest, *load_timed_event(body)
    except (TypeError, ValueError) as error:
        raise Failure("a step of the run is not what was recorded") from error


def read_output(output: str) -> tuple[str, Event, EventTimes] | None:
    """Return the record of a step, as the engine keeps it; None if it is no event."""
    entry = json.loads(output)
    return read_entry(entry) if isinstance(entry, str) and not entry.startswith(STOP) else None


_AT_ONCE = 200
"""Runs that are removed in one transaction."""


def remove_old(store: RunStore, seconds: float) -> int:
    """Remove the runs that ended so many seconds ago, or earlier; return how many.

    What the engine keeps of a run goes first: after a kill in between, the rest goes the next time.
    """
    count = 0
    with store.database.transact() as connection:  # a constant: for a function no server uses its indexes
        latest = connection.execute(sa.select(store.database.now)).scalar_one() - int(seconds * 1000)
    while removed := _remove_some(store, latest):
        count += removed
    _remove_children(store, latest)
    _remove_documents(store)
    return count


def _remove_some(store: RunStore, latest: int) -> int:
    database = store.database
    is_old = sa.and_(runs.c.phase.in_(ENDED), runs.c.ended_at <= latest)  # there is an index of both
    with database.transact() as connection:
        found = connection.execute(sa.select(runs.c.run, runs.c.segment).where(is_old).limit(_AT_ONCE)).all()
    for part in chunk(name_segment(run, each) for run, last in found for each in range(last + 1)):
        with database.ask():
            store.queues.client.delete_workflows(list(part))
    names = [run for run, _ in found]
    with database.transact() as connection:
        connection.execute(messages.delete().where(messages.c.run.in_(names)))
        connection.execute(runs.delete().where(runs.c.run.in_(names)))
    return len(names)


def _remove_documents(store: RunStore) -> None:
    """Remove the plans and scenarios of which there is no run."""
    used = (sa.select(each).where(each.is_not(None)) for each in (runs.c.plan, runs.c.scenario, runs.c.prologue))
    unused = sa.except_(sa.select(documents.c.digest), *used)
    with store.database.transact() as connection:
        if connection.execute(unused.limit(1)).scalar() is None:
            return
    with store.database.transact() as connection:
        if not store.database.is_sqlite:  # whoever submits a run and has kept its plan commits first
            connection.execute(sa.text(f"LOCK TABLE {documents.fullname} IN SHARE ROW EXCLUSIVE MODE"))
        connection.execute(documents.delete().where(documents.c.digest.in_(unused)))


def _remove_children(store: RunStore, latest: int) -> None:
    """Remove the requests that were cancelled, or left by a worker that has died: their runs keep the answers."""
    is_old = sa.and_(workflows.c.name == REQUEST, workflows.c.completed_at <= latest)
    query = sa.select(workflows.c.workflow_uuid).where(is_old).limit(_AT_ONCE)
    while True:
        with store.database.transact() as connection:
            found = list(connection.execute(query).scalars())
        if not found:
            return
        with store.database.ask():
            store.queues.client.delete_workflows(found)


_SENT = "telemetry"
"""The name of its row, among the signals of a run."""


def read_sent(store: RunStore, run: str) -> int:
    """Return of how many events of a run telemetry has been sent."""
    with store.database.transact() as connection:
        return _read(connection, run)


def note_sent(store: RunStore, run: str, count: int) -> None:
    """Remember of how many events of a run telemetry has been sent."""
    with store.database.transact() as connection:
        if _read(connection, run) < count:
            now = connection.execute(sa.select(store.database.now)).scalar_one()
            connection.execute(messages.delete().where(messages.c.run == run, messages.c.name == _SENT))
            row = {"run": run, "name": _SENT, "body": json.dumps({"sent": count}), "sent_at": now}
            connection.execute(store.insert(messages).on_conflict_do_nothing(), [row])


def _read(connection: sa.Connection, run: str) -> int:
    query = sa.select(messages.c.body).where(messages.c.run == run, messages.c.name == _SENT)
    body = connection.execute(query).scalar()
    found = 0 if body is None else json.loads(body)["sent"]
    return found if isinstance(found, int) else 0
