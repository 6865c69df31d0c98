"""The schedules of a database: each starts runs at the times of a cron expression, and every time at most once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import sqlalchemy as sa
from croniter import CroniterBadDateError, CroniterError, croniter

from stagec.core.failure import Failure
from stagec.core.json import object_of
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import value
from stagec.core.words import quote
from stagec.runtime.drivers.dbos.database import runs, schedules
from stagec.runtime.drivers.dbos.run_records import APPLICATION_VERSION, Submission
from stagec.runtime.drivers.dbos.run_store import RunStore, find_differing
from stagec.runtime.drivers.following import UnreachableError

_LONGEST = 100
"""Characters of a cron expression: a longer one takes long to read."""
_FIELD = "(?:[0-9*,/-]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)+"
_CRON = re.compile(rf"\s*{_FIELD}(?:\s+{_FIELD}){{4}}\s*", re.IGNORECASE | re.ASCII)
"""The syntax for croniter: it knows other words too, such as 'R', which is another time for each worker."""
_EXPECTED = (
    "expected five fields (minute, hour, day of the month, month, day of the week), such as"
    " '0 3 * * *' (each day at 03:00), '*/15 * * * *' (every 15 minutes) or '30 8 * * mon-fri' (weekdays at 08:30)"
)
PUNCTUAL = 60_000
"""Milliseconds after which a time that no worker has served is missed."""
_SHARED = ("plan", "entry", "inputs", "signature", "tenant", "priority")
"""The columns that the row of a run has, too."""
_SHOWN = [schedules.c[each] for each in ("name", "cron", "time_zone", "catch_up", "is_paused", "next_at", "last_run")]
_COMPARED = ("cron", "time_zone", "catch_up", "plan", "entry", "inputs", "scenario", "tenant", "priority")


class CatchUp(StrEnum):
    """The action after missed times: nothing, or one run for the last of them."""

    SKIP = "skip"
    LAST = "last"


class CronTimes:
    """The times of a cron expression in a time zone, in milliseconds since 1970; raises `Failure` if it has none."""

    def __init__(self, cron: str, time_zone: str = "UTC") -> None:
        if len(cron) > _LONGEST or not _CRON.fullmatch(cron):
            raise Failure(f"{quote(cron)} is not a cron expression: {_EXPECTED}")
        self.cron, self.zone = " ".join(cron.split()), _find_zone(time_zone)
        try:
            self.find_next(0)
        except CroniterBadDateError as error:
            raise Failure(f"{quote(cron)} has no times: no year has such a day") from error
        except CroniterError as error:
            raise Failure(f"{quote(cron)} is not a cron expression: {_EXPECTED}") from error

    def find_next(self, now: int) -> int:
        """Return the first time after one."""
        return _in_milliseconds(self._open(now).get_next(datetime))

    def find_last(self, now: int) -> int:
        """Return the last time that is not after one."""
        return _in_milliseconds(self._open(now + 1000).get_prev(datetime))

    def list_next(self, now: int, count: int) -> list[datetime]:
        """Return the first times after one, in the time zone."""
        times = self._open(now)
        return [times.get_next(datetime) for _ in range(count)]

    def _open(self, now: int) -> croniter:
        return croniter(self.cron, datetime.fromtimestamp(now // 1000, self.zone))


def _in_milliseconds(time: datetime) -> int:
    return (time - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)


@cache
def _list_zones() -> frozenset[str]:
    """Return the names of all time zones that mean the same on every machine."""
    return frozenset(available_timezones() - {"localtime"})


def _find_zone(name: str) -> ZoneInfo:
    known = _list_zones()
    if name not in known:
        told = "write one such as 'Europe/Berlin'" if known else "this machine knows none; install 'tzdata'"
        raise Failure(f"{quote(name)} is not a time zone: {told}{hint(name, NameIndex(known))}")
    return ZoneInfo(name)


@value
class CronSchedule:
    """A schedule: its times, and what it does after missed ones; `next_at` is the first time that is not served yet."""

    name: str
    cron: str
    time_zone: str
    catch_up: str
    is_paused: bool
    next_at: int
    last_run: str | None
    now: int

    @property
    def next_time(self) -> datetime:
        """The first time that is not served yet, in its time zone; in UTC where this machine does not know the zone."""
        try:
            zone: tzinfo = _find_zone(self.time_zone)
        except Failure:
            zone = UTC
        return datetime.fromtimestamp(self.next_at // 1000, zone)

    @property
    def is_due(self) -> bool:
        """Whether its time has come, and no worker has served it yet."""
        return not self.is_paused and self.next_at <= self.now


@value
class Declared:
    """The result of declaring a schedule; it may have been there before, and be paused."""

    is_new: bool
    is_paused: bool
    next_times: Sequence[datetime]


class Schedules:
    """Declares, steers and serves the schedules of a database. All times are by the clock of the database."""

    def __init__(self, store: RunStore) -> None:
        self._store, self._database = store, store.database

    def declare(self, given: Submission, cron: str, time_zone: str, catch_up: CatchUp) -> Declared:
        """Start runs like one whose name is that of the schedule.

        Raises `Failure` if the schedule is there with something else.
        """
        times = CronTimes(cron, time_zone)
        with self._database.transact() as connection:
            now = connection.execute(sa.select(self._database.now)).scalar_one()
            made = self._store.make_row(given, now)
            row = {
                **{each: made[each] for each in _SHARED},
                "plan_body": given.plan,
                "scenario": given.scenario,
                "name": given.run,
                "cron": times.cron,
                "time_zone": time_zone,
                "catch_up": catch_up,
                "is_paused": False,
                "next_at": times.find_next(now),
                "last_run": None,
            }
            insert = self._store.insert(schedules).values(row).on_conflict_do_nothing().returning(schedules.c.name)
            is_new = connection.execute(insert).scalar() is not None
            is_paused = not is_new and self._refuse_other(connection, row)
        return Declared(is_new, is_paused, times.list_next(now, 3))

    def _refuse_other(self, connection: sa.Connection, wanted: Mapping[str, object]) -> bool:
        """Raise `Failure` unless the schedule of a name is one with the same; return whether it is paused."""
        name = str(wanted["name"])
        row = self._find(connection, name)
        differing = find_differing({each: getattr(row, each) for each in _COMPARED}, wanted, _COMPARED)
        if differing:
            told = f"'stagec schedules remove {name}' removes it"
            raise Failure(f"{self._database.name} already has a schedule {quote(name)} with {differing}; {told}")
        return bool(row.is_paused)

    def list_all(self) -> list[CronSchedule]:
        """Return all schedules, by name."""
        query = sa.select(*_SHOWN, self._database.now).order_by(schedules.c.name)
        with self._database.transact() as connection:
            return [CronSchedule(*tuple[Any, ...](each)) for each in connection.execute(query)]

    def pause(self, name: str) -> None:
        """Start no runs until it is resumed; raise `Failure` for an unknown name."""
        with self._database.transact() as connection:
            self._find(connection, name)
            self._change(connection, name, {"is_paused": True})

    def resume(self, name: str) -> None:
        """Start runs again, after what its catch-up rule says; raise `Failure` for an unknown name."""
        with self._database.transact() as connection:
            row = self._find(connection, name)
            if not row.is_paused:
                return
            changes: dict[str, object] = {"is_paused": False}
            if row.catch_up == CatchUp.SKIP:  # otherwise a worker finds what was missed
                now = connection.execute(sa.select(self._database.now)).scalar_one()
                changes["next_at"] = CronTimes(row.cron, row.time_zone).find_next(now)
            self._change(connection, name, changes)

    def remove(self, name: str) -> None:
        """Remove a schedule, and none of its runs; raise `Failure` for an unknown name."""
        with self._database.transact() as connection:
            self._find(connection, name)
            connection.execute(schedules.delete().where(schedules.c.name == name))

    def start_due(self, tell: Callable[[str], None], version: str = APPLICATION_VERSION) -> int:
        """Start the runs whose times have come, for workers of a version; return how many.

        A schedule that cannot be served here delays no other: `tell` takes the reason.
        """
        is_due = sa.and_(sa.not_(schedules.c.is_paused), schedules.c.next_at <= self._database.now)
        with self._database.ask_once() as connection:
            names = connection.execute(sa.select(schedules.c.name).where(is_due)).scalars().all()
        started = 0
        for name in names:
            try:
                started += self._serve(name, version)
            except UnreachableError:
                raise
            except Failure as failure:
                tell(f"the schedule {quote(name)} starts no runs here: {failure}")
        return started

    def _serve(self, name: str, version: str) -> bool:
        """Start the run of the time that has come, and move on to the next time, in one transaction."""
        with self._database.transact() as connection:
            row = self._lock(connection, name, skip_locked=True)
            now = connection.execute(sa.select(self._database.now)).scalar_one()
            if row is None or row.is_paused or row.next_at > now:  # another worker was first
                return False
            times, changes = CronTimes(row.cron, row.time_zone), dict[str, object]()
            last = times.find_last(now)  # has been served before if the rules of the time zone have changed
            is_served = last >= row.next_at and (row.catch_up == CatchUp.LAST or now - last < PUNCTUAL)
            if is_served:
                run = f"{name}-{datetime.fromtimestamp(last // 1000, UTC):%Y%m%dT%H%MZ}"
                self._start(connection, run, row, version, now)
                changes["last_run"] = run
            self._change(connection, name, {**changes, "next_at": times.find_next(now)})
        return is_served

    def _start(self, connection: sa.Connection, run: str, row: Any, version: str, now: int) -> None:
        """Start a run, unless it is there: somebody has removed its schedule."""
        given = (run, row.plan_body, row.plan, row.entry, object_of(json.loads(row.inputs)), row.scenario)
        begun = Submission(*given, row.signature, row.tenant, row.priority, version=version)
        self._store.keep_documents(connection, [begun])
        made = self._store.make_row(begun, now)
        insert = self._store.insert(runs).values(made).on_conflict_do_nothing().returning(runs.c.run)
        if connection.execute(insert).scalar() is not None:
            self._store.queues.enqueue(connection, run, 0, begun)

    def _find(self, connection: sa.Connection, name: str) -> Any:
        """Return the row of a schedule, which nobody else changes before the transaction ends, or raise `Failure`."""
        row = self._lock(connection, name) if name.isprintable() else None
        if row is None:
            names = connection.execute(sa.select(schedules.c.name)).scalars().all()
            raise Failure(f"no schedule is called {quote(name)} in {self._database.name}{hint(name, NameIndex(names))}")
        return row

    def _lock(self, connection: sa.Connection, name: str, *, skip_locked: bool = False) -> Any:
        is_it = schedules.c.name == name
        if self._database.is_sqlite:  # takes the lock of the file before anything is read
            connection.execute(schedules.update().where(is_it).values(name=schedules.c.name))
        query = sa.select(schedules).where(is_it).with_for_update(skip_locked=skip_locked)
        return connection.execute(query).one_or_none()

    def _change(self, connection: sa.Connection, name: str, changes: Mapping[str, object]) -> None:
        connection.execute(schedules.update().where(schedules.c.name == name).values(**changes))
