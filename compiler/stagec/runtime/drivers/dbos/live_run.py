"""Follow the runs of a database while workers execute them: how each stands, and what is new of one."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from stagec.core.json import object_of, text_in
from stagec.core.value import NOTHING, value
from stagec.runtime.drivers.dbos.database import runs, steps, workflows
from stagec.runtime.drivers.dbos.run_records import ENDED, RESUMABLE, RunPhase, RunRecord, read_row
from stagec.runtime.drivers.dbos.run_store import RunStore
from stagec.runtime.drivers.following import News, Standing, find_standing
from stagec.runtime.drivers.history import EventTimes, strip_times
from stagec.runtime.machine.exchange import Event
from stagec.runtime.machine.state import State
from stagec.runtime.world.models.port import TokenUse, read_usage

_QUEUED = ("ENQUEUED", "DELAYED")


@value
class RunBrief:
    """The status of a run, without its history. `steps` are those of its segment, `moved_at` is in milliseconds."""

    record: RunRecord
    is_queued: bool
    steps: int
    moved_at: int

    @property
    def standing(self) -> Standing:
        """Its status, in the words of runs in folders."""
        return stand(self.record, is_queued=self.is_queued)

    @property
    def executions(self) -> int:
        """How many executions of nodes have begun, as its last segment has left it."""
        return self._count("executions")

    @property
    def events(self) -> int:
        """How many events it has, at least the one with which it began."""
        return max(self._count("events"), 1) + (self.steps if self.record.phase is RunPhase.ACTIVE else 0)

    @property
    def plan(self) -> str:
        """The digest of the plan that it has now, as its last segment has left it."""
        return text_in(self.record.summary, "digest") or self.record.plan

    @property
    def used(self) -> TokenUse | None:
        """The usage of its models; None if no usage was reported."""
        told = self.record.summary.get("usage")
        return read_usage({"usage": told}) if object_of(told) else None

    def _count(self, name: str) -> int:
        found = self.record.summary.get(name)
        return found if isinstance(found, int) else 0

    @property
    def stamp(self) -> tuple[object, ...]:
        """A value that changes with every change of the run."""
        record = self.record
        told = record.created_at, record.segment, record.phase, record.refusals, record.reason
        return (*told, self.is_queued, self.steps, self.moved_at)


def stand(record: RunRecord, *, is_queued: bool) -> Standing:
    """Return how a run stands, in the words of runs in folders."""
    if record.phase is RunPhase.ACTIVE:
        return Standing.NOT_BEGUN if is_queued and record.segment == 0 else Standing.RUNNING
    if record.phase in RESUMABLE:
        return Standing.INTERRUPTED
    return Standing.NOT_BEGUN if record.segment < 0 and record.phase is RunPhase.WAITING else Standing(record.phase)


def list_briefs(store: RunStore, ended_since: int = 0) -> list[RunBrief]:
    """Return how the runs stand that have not ended, or have ended since a time of the database; by name."""
    name = runs.c.run + sa.literal("/") + sa.cast(runs.c.segment, sa.Text)
    last = sa.select(sa.func.max(steps.c.function_id)).where(steps.c.workflow_uuid == name).scalar_subquery()
    known = [each for each in runs.c if each.name != "inputs"]  # they may be large, and no list shows them
    told = (
        sa.literal("{}").label("inputs"),
        store.database.now.label("now"),
        workflows.c.status.label("engine_status"),
        workflows.c.updated_at.label("engine_time"),
        sa.case((runs.c.phase == RunPhase.ACTIVE, last), else_=None).label("engine_steps"),
    )
    has_just_ended = sa.and_(runs.c.phase.in_(ENDED), runs.c.ended_at >= ended_since)
    is_wanted = sa.or_(runs.c.phase.in_(set(RunPhase) - set(ENDED)), has_just_ended)  # there is an index of both
    query = (
        sa.select(*known, *told)
        .select_from(runs.outerjoin(workflows, workflows.c.workflow_uuid == name))
        .where(is_wanted)
    )
    with store.database.transact() as connection:
        rows = connection.execute(query.order_by(runs.c.run)).mappings().all()
    return list(map(_read_brief, rows))


def _read_brief(row: sa.RowMapping) -> RunBrief:
    engine = {name: row[name] for name in ("engine_status", "engine_time", "engine_steps")}
    record = read_row({name: each for name, each in row.items() if name not in engine})
    moved = max(record.created_at, record.ended_at or 0, int(engine["engine_time"] or 0))
    return RunBrief(record, engine["engine_status"] in _QUEUED, int(engine["engine_steps"] or 0), moved)


class LiveRun:
    """A run of a database, read again and again; what has been read of it once is not asked for again."""

    def __init__(self, store: RunStore, run: str) -> None:
        self._store, self._run = store, run
        self.plan, self.digest = b"", ""
        self.facts: Mapping[str, str] = NOTHING
        self._record: RunRecord | None = None
        self._is_fresh = False
        self._begun_at: int | None = None
        self._segment, self._step = 0, -1

    def is_executed(self) -> bool:
        """Tell whether workers go on with the run by themselves."""
        self._record, self._is_fresh = self._store.find(self._run), True
        return self._record.phase in {RunPhase.ACTIVE, RunPhase.WAITING}

    def describe(self, state: State, *, is_executed: bool) -> tuple[Standing, str]:
        """Return how the run stands that has come to a state, and why, as it was when it was looked at last."""
        record = self._record
        if record is None or state.ended is not None:
            return find_standing(state, is_executed=is_executed), state.reason
        has_begun = record.segment > 0 or self._step >= 0
        is_queued = not has_begun and record.run in self._store.list_queued([record])
        found = stand(record, is_queued=is_queued)
        standing = find_standing(state, is_executed=True) if found is Standing.RUNNING else found
        return standing, record.interruption.sentence

    def read_more(self) -> News:
        """Return the news since the last call."""
        record = self._record if self._is_fresh and self._record is not None else self._store.find(self._run)
        self._record, self._is_fresh = record, False
        begins = self._begun_at != record.created_at
        events, times = list[Event](), list[EventTimes]()
        if begins:
            self.close()
            before = self._store.read_before(record, 0)
            self.plan, self.digest = self._store.load_plan(record), record.plan
            events, times = [*before.events], [*before.times]
        for segment, step, entry in self._store.read_entries(record, self._segment, self._step):
            self._segment, self._step = segment, step
            if entry is not None:
                events.append(entry[1])
                times.append(entry[2])
        self._begun_at = record.created_at
        return News(tuple(events), begins, strip_times(times))

    def close(self) -> None:
        """Let go of it; reading begins again after this."""
        self._begun_at, self._segment, self._step = None, 0, -1
