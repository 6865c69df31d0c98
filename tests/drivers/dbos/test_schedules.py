"""Schedules start each time once: with many workers, after a failure, without a worker, and while they are paused."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
import sqlalchemy as sa
from in_databases import ScriptedTestWorld, submission, wait_for, wait_until, working

from stagec.core.failure import Failure
from stagec.core.value import replace
from stagec.ir.plan.loader import read_frame
from stagec.runtime.drivers.dbos import CatchUp, RunPhase, RunStore, Schedules, migrate, open_database
from stagec.runtime.drivers.dbos import worker as worker_module
from stagec.runtime.drivers.dbos.database import documents, schedules, workflows
from stagec.runtime.drivers.dbos.queues import Queues
from stagec.runtime.drivers.dbos.run_store import remove_old
from stagec.runtime.drivers.dbos.schedules import CronTimes

HOUR = 3_600_000
OFTEN, YEARLY = "* * * * *", "0 0 1 1 *"


@pytest.fixture
def file(tmp_path: Path) -> Iterator[RunStore]:
    """Return the runs of a file: what is the same in every database."""
    database = open_database(f"sqlite:///{tmp_path / 'runs.sqlite'}")
    migrate(database)
    yield RunStore(database)
    database.close()


def declare(store: RunStore, name: str, cron: str = YEARLY, catch_up: CatchUp = CatchUp.LAST) -> Schedules:
    made = Schedules(store)
    assert made.declare(submission(name), cron, "UTC", catch_up).is_new
    return made


def start_due(declared: Schedules) -> int:
    """Start what is due, of which nothing is wrong."""
    told: list[str] = []
    started = declared.start_due(told.append)
    assert told == []
    return started


def let_pass(store: RunStore, hours: int = 30_000, *names: str) -> None:
    """Let so much time pass for schedules, in which nobody served them."""
    changed = schedules.update().values(next_at=schedules.c.next_at - hours * HOUR)
    with store.database.transact() as connection:
        connection.execute(changed.where(schedules.c.name.in_(names)) if names else changed)


def list_runs(store: RunStore) -> list[str]:
    return [each.run for each in store.list_records()]


def test_many_workers_start_a_time_once_and_retention_leaves_its_schedule(runs: RunStore) -> None:
    declared = declare(runs, "nightly")
    let_pass(runs)
    others = [Schedules(RunStore(runs.database)) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(start_due, others)) == 1
    (first,) = list_runs(runs)
    assert first == declared.list_all()[0].last_run
    with working(runs.database, ScriptedTestWorld()):
        wait_until(runs, first, RunPhase.DONE)
        wait_for(lambda: remove_old(runs, 0) > 0)
        assert not runs.has(first)
        with runs.database.transact() as connection:  # a worker of an older version removes as much
            assert connection.execute(sa.select(documents.c.digest)).all() == []
        assert start_due(declared) == 0  # its time has been served, although its run is gone
        let_pass(runs)
        wait_for(lambda: bool(list_runs(runs)))  # the worker looks for itself
        declared.remove("nightly")
        wait_until(runs, list_runs(runs)[0], RunPhase.DONE)  # the run has its plan


def test_what_fails_in_the_middle_starts_later_and_delays_no_other(
    file: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = declare(file, "broken")
    declare(file, "whole")
    let_pass(file)
    enqueue = Queues.enqueue

    def fail(self: Queues, connection: sa.Connection, run: str, *given: object) -> None:
        if run.startswith("broken"):
            raise Failure("killed")
        enqueue(self, connection, run, *given)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(Queues, "enqueue", fail)
        told: list[str] = []
        assert declared.start_due(told.append) == 1
    assert told == ["the schedule 'broken' starts no runs here: killed"]
    assert [each.partition("-")[0] for each in list_runs(file)] == ["whole"]
    assert start_due(declared) == 1
    assert [each.partition("-")[0] for each in list_runs(file)] == ["broken", "whole"]
    with file.database.transact() as connection:
        queued = connection.execute(sa.select(workflows.c.workflow_uuid)).scalars().all()
        connection.execute(schedules.update().values(time_zone="Moon/Base"))
    assert sorted(queued) == [f"{each}/0" for each in list_runs(file)]
    assert {f"{each.next_time:%z}" for each in declared.list_all()} == {"+0000"}
    let_pass(file)
    assert [each.is_due for each in declared.list_all()] == [True, True]
    monkeypatch.setattr(worker_module, "PACE", 0.1)
    with working(file.database, ScriptedTestWorld()) as worker:
        told = worker.told  # type: ignore[attr-defined]
        wait_for(lambda: len(told) == 2)
        wait_for(lambda: all(each.phase is RunPhase.DONE for each in file.list_records()))
        assert worker.trouble == ""  # it takes work, and says what is wrong once
    assert sorted(each.partition(": write")[0] for each in told) == [
        f"the schedule '{name}' starts no runs here: 'Moon/Base' is not a time zone" for name in ("broken", "whole")
    ]


def test_the_rule_says_what_follows_from_missed_times(file: RunStore) -> None:
    declared = declare(file, "skip-often", OFTEN, CatchUp.SKIP)
    declare(file, "last-often", OFTEN)
    declare(file, "skip-yearly", YEARLY, CatchUp.SKIP)
    declare(file, "last-yearly")
    declare(file, "future")
    declare(file, "moved")
    with file.database.transact() as connection:  # the rules of its zone have changed: this is no time any more
        is_moved = schedules.c.name == "moved"
        connection.execute(schedules.update().where(is_moved).values(next_at=file.database.now - 1))
    let_pass(file, 3, "skip-often", "last-often")
    let_pass(file, 30_000, "skip-yearly", "last-yearly")
    declared.resume("skip-often")  # which is not paused, and skips nothing
    assert start_due(declared) == 3
    started = {each.rpartition("-")[0]: each.rpartition("-")[2] for each in list_runs(file)}
    assert started.keys() == {"skip-often", "last-often", "last-yearly"}  # one each, of many
    year = declared.list_all()[0].next_time.year - 1
    assert started["last-yearly"] == f"{year}0101T0000Z"
    assert {each.next_at for each in declared.list_all() if each.cron == YEARLY} == {declared.list_all()[0].next_at}
    assert start_due(declared) <= 2  # a minute may have begun meanwhile


def test_a_paused_schedule_starts_nothing_and_resuming_catches_up_as_the_rule_says(file: RunStore) -> None:
    declared = declare(file, "skip", YEARLY, CatchUp.SKIP)
    declare(file, "last")
    for name in ("skip", "last"):
        declared.pause(name)
    let_pass(file)
    assert start_due(declared) == 0
    for name in ("skip", "last", "last"):
        declared.resume(name)
    last, skip = declared.list_all()
    assert skip.next_at - last.next_at > HOUR
    assert declared.start_due(pytest.fail, "newer") == 1  # by a worker of a newer version, whose run it is
    (started,) = list_runs(file)
    assert file.find(started).version == "newer"
    assert started.startswith("last-")
    let_pass(file)
    assert start_due(declared) == 1  # a run of this time is there, and is not begun twice
    assert list_runs(file) == [started]
    declared.remove("last")
    with pytest.raises(Failure, match="no schedule is called 'last'"):
        declared.pause("last")


def test_a_plan_that_workers_do_not_know_is_returned_with_the_reason(file: RunStore) -> None:
    given = submission("nightly")
    digest, payload = read_frame(given.plan)
    unknown = payload.replace(b"stagec.plan/1", b"stagec.plan/9")
    named = f"sha256:{sha256(unknown).hexdigest()}"
    data = given.plan.replace(payload, unknown).replace(digest.encode(), named.encode())
    Schedules(file).declare(replace(given, plan=data, digest=named), YEARLY, "UTC", CatchUp.LAST)
    let_pass(file)
    with working(file.database, ScriptedTestWorld()):
        wait_for(lambda: any(each.refusals for each in file.list_records()))
    (record,) = file.list_records()
    assert "cannot run it: the plan of run 'nightly-" in record.reason


def test_times_are_those_of_the_time_zone() -> None:
    summer = CronTimes("30 2 * * *", "Europe/Berlin")
    march, october = 1_806_188_400_000, 1_824_933_600_000  # 2027-03-27T23:00Z, 2027-10-30T22:00Z
    assert [f"{each:%dT%H:%M%z}" for each in summer.list_next(march, 2)] == ["28T03:00+0200", "29T02:30+0200"]
    assert [f"{each:%dT%H:%M%z}" for each in summer.list_next(october, 3)] == [
        "31T02:30+0200",
        "31T02:30+0100",
        "01T02:30+0100",
    ]
    for time in (march, october):
        following = summer.find_next(time)
        assert summer.find_last(following) == following
        assert summer.find_last(following - 1) < time
