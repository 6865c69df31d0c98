"""Requests to providers of models: never more at once, or in a time, than the limits for all workers say."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from threading import Event as Flag
from threading import Lock, Thread
from typing import Any

import pytest
import sqlalchemy as sa
from campaigns import choose
from conformance.ports.dbos import DbosDriver
from conformance.ports.processes import Process
from conformance.samples import SAMPLES
from conformance.trial import on_trial
from conformance.world import PROVIDER
from in_databases import ScriptedTestWorld, submission, submit, transitions, wait_for, wait_until, working

from stagec.core.failure import Failure
from stagec.runtime.drivers.dbos import QueueLimit, RunPhase, RunStore, Schedules, check, migrate, open_database
from stagec.runtime.drivers.dbos.database import METADATA, permits, provider_limits, schedules, schema_version
from stagec.runtime.drivers.dbos.queues import Permits
from stagec.runtime.drivers.dbos.worker import Heartbeat, WorkerRow
from stagec.runtime.drivers.messages import MessageKind, write_message

REQUESTS = choose(24, whole=300)
WORKERS = 3


class Crowd:
    """Requests of several workers, each in a thread: what is under way now, and what has begun."""

    def __init__(self, url: str, workers: int = WORKERS) -> None:
        self._databases = [open_database(url, 12) for _ in range(workers)]
        stores = [RunStore(each) for each in self._databases]
        self.workers = [
            Permits(store.queues, each, f"w{at}")
            for at, (store, each) in enumerate(zip(stores, self._databases, strict=True))
        ]
        self._lock, self._threads = Lock(), list[Thread]()
        self.now, self.most, self.begun = 0, 0, list[str]()
        self.refused = list[str]()

    def ask(self, number: int, seconds: float, until: Flag | None = None, provider: str = "openai") -> None:
        """Begin a request that takes so long, or until a flag is set."""
        thread = Thread(target=self._ask, args=(number, seconds, until, provider))
        self._threads.append(thread)
        thread.start()

    def _ask(self, number: int, seconds: float, until: Flag | None, provider: str) -> None:
        worker = self.workers[number % len(self.workers)]
        try:
            with worker.hold(provider, f"key-{number}"):
                with self._lock:
                    self.now += 1
                    self.most = max(self.most, self.now)
                    self.begun.append(f"key-{number}")
                time.sleep(seconds) if until is None else until.wait(60)
                with self._lock:
                    self.now -= 1
        except Failure as failure:
            self.refused.append(str(failure))

    def close(self) -> None:
        """Wait for all requests."""
        for each in self._threads:
            each.join(60)
            assert not each.is_alive()
        for database in self._databases:
            database.close()


@contextmanager
def crowd_of(runs: RunStore, *limits: QueueLimit, workers: int = WORKERS) -> Iterator[Crowd]:
    for each in limits:
        runs.queues.set_limit(each)
    crowd = Crowd(runs.database.url, workers)
    try:
        yield crowd
    finally:
        crowd.close()


def list_permits(runs: RunStore) -> Sequence[sa.Row[tuple[object, ...]]]:
    with runs.database.transact() as connection:
        return connection.execute(sa.select(permits).order_by(permits.c.asked_at, permits.c.id)).all()


def openai(concurrency: int | None = None, begins: int | None = None, seconds: float = 1.0) -> QueueLimit:
    return QueueLimit("", concurrency, begins, seconds, "openai")


def test_never_more_at_once_than_the_limit_for_all_workers_says(runs: RunStore) -> None:
    with crowd_of(runs, openai(3)) as crowd:
        over = Flag()
        for number in range(REQUESTS):
            crowd.ask(number, 0.02, over if number < 5 else None)
        wait_for(lambda: crowd.now == 3)
        time.sleep(0.5)
        over.set()
    assert crowd.most == 3
    assert len(crowd.begun) == REQUESTS
    assert all(each.ended_at is not None for each in list_permits(runs))


def test_never_more_in_a_window_than_the_rate_says(runs: RunStore) -> None:
    with crowd_of(runs, openai(None, 5, 600)) as crowd:
        for number in range(12):
            crowd.ask(number, 0)
        for wanted in (5, 10, 12):
            wait_for(lambda wanted=wanted: len(crowd.begun) >= wanted)
            time.sleep(0.6)
            assert len(crowd.begun) == wanted
            with runs.database.transact() as connection:  # ten minutes later
                later = permits.update().where(permits.c.begun_at.is_not(None))
                connection.execute(later.values(begun_at=permits.c.begun_at - 600_000))


def test_whoever_waits_longest_is_next_whatever_its_worker(runs: RunStore) -> None:
    over = Flag()
    with crowd_of(runs, openai(1)) as crowd:
        crowd.ask(0, 0, over)
        for number in range(1, 7):
            wait_for(lambda number=number: len(list_permits(runs)) == number)
            crowd.ask(number, 0)
        wait_for(lambda: len(list_permits(runs)) == 7)
        over.set()
    assert crowd.begun == [f"key-{number}" for number in range(7)]


def test_other_providers_and_other_requests_wait_for_nothing(runs: RunStore) -> None:
    over = Flag()
    with crowd_of(runs, openai(1)) as crowd:
        crowd.ask(0, 0, over)
        wait_for(lambda: crowd.now == 1)
        for provider in ("anthropic", ""):
            crowd.ask(1, 0, None, provider)
            wait_for(lambda: crowd.now == 1 and len(crowd.begun) > 1)
        over.set()
    assert len(crowd.begun) == 3


def test_a_request_that_nobody_needs_leaves_the_queue(runs: RunStore) -> None:
    over = Flag()
    with crowd_of(runs, openai(1)) as crowd:
        crowd.ask(0, 0, over)
        wait_for(lambda: crowd.now == 1)
        crowd.ask(1, 0)
        wait_for(lambda: len(list_permits(runs)) == 2)
        crowd.workers[1].cancel("key-1")
        wait_for(lambda: bool(crowd.refused))
        wait_for(lambda: len(list_permits(runs)) == 1)
        over.set()
    assert crowd.refused == ["the answer to the request 'key-1' is no longer needed"]
    assert crowd.begun == ["key-0"]


def test_a_limit_that_is_removed_lets_all_begin(runs: RunStore) -> None:
    over = Flag()
    with crowd_of(runs, openai(1)) as crowd:
        for number in range(4):
            crowd.ask(number, 0, over)
        wait_for(lambda: len(list_permits(runs)) == 4)
        runs.queues.set_limit(openai())
        wait_for(lambda: crowd.now == 4)
        over.set()


def test_what_a_dead_worker_had_under_way_makes_room_and_still_counts_for_the_rate(runs: RunStore) -> None:
    with crowd_of(runs, openai(2, 3, 600), workers=1) as crowd:
        with runs.database.transact() as connection:
            dead = {"provider": "openai", "worker": "dead", "asked_at": 1}
            now = connection.execute(sa.select(runs.database.now)).scalar_one()
            rows = [{"id": name, "begun_at": begun, **dead} for name, begun in (("a", now), ("b", now), ("c", None))]
            connection.execute(permits.insert(), rows)
        crowd.ask(0, 0)
        wait_for(lambda: len(list_permits(runs)) == 4)
        assert crowd.begun == []
        watcher = Heartbeat(runs.database, WorkerRow("w0", "any"), patience=0.2)
        assert watcher.bury_dead() == []
        time.sleep(0.3)
        assert watcher.bury_dead() == [("dead", 0)]
        wait_for(lambda: crowd.begun == ["key-0"])
        crowd.ask(1, 0)
        wait_for(lambda: len(list_permits(runs)) == 4)
        time.sleep(0.5)
        assert crowd.begun == ["key-0"], "the rate of three counts what the dead worker has begun"
        runs.queues.set_limit(openai())


def test_what_was_not_ended_because_the_database_was_away_is_ended_later(runs: RunStore) -> None:
    with crowd_of(runs, openai(1), workers=1) as crowd:
        with runs.database.transact() as connection:
            lost = {"id": "a", "provider": "openai", "worker": "w0", "asked_at": 1, "begun_at": 1}
            connection.execute(permits.insert().values(lost))
        crowd.ask(0, 0)
        wait_for(lambda: len(list_permits(runs)) == 2)
        crowd.workers[0].end_lost()
        wait_for(lambda: crowd.begun == ["key-0"])


def test_a_request_begins_although_nobody_heard_that_it_may(runs: RunStore) -> None:
    class DeafPermits(Permits):
        is_deaf = True

        def _give(self, *given: Any) -> Sequence[str]:
            found = super()._give(*given)
            if found and self.is_deaf:
                self.is_deaf = False
                return ()  # the transaction is committed, and the connection was cut before that was told
            return found

    with crowd_of(runs, openai(1), workers=1) as crowd:
        crowd.workers[0] = DeafPermits(runs.queues, runs.database, "w0")
        crowd.ask(0, 0)
        wait_for(lambda: crowd.begun == ["key-0"])


def test_a_run_that_waits_for_its_turn_is_paused_resumed_and_cancelled(runs: RunStore) -> None:
    over = Flag()
    with crowd_of(runs, openai(1), workers=1) as crowd:
        crowd.ask(0, 0, over)
        wait_for(lambda: crowd.now == 1)
        submit(runs, submission("one"), submission("two"))
        with working(runs.database, ScriptedTestWorld()) as worker:
            wait_for(lambda: len(list_permits(runs)) == 3)
            steering = transitions(runs)
            steering.send("one", write_message(MessageKind.PAUSE, "terminal"))
            assert wait_until(runs, "one", RunPhase.PAUSED).segment == 0
            steering.send("two", write_message(MessageKind.CANCEL, "terminal"))
            assert wait_until(runs, "two", RunPhase.FAILED, RunPhase.DONE, RunPhase.BLOCKED).ended_at is not None
            wait_for(lambda: len(list_permits(runs)) == 1)
            steering.resume("one")
            wait_for(lambda: len(list_permits(runs)) == 2)
            over.set()
            assert wait_until(runs, "one", RunPhase.DONE).phase is RunPhase.DONE
            assert worker.told == []  # type: ignore[attr-defined]
    assert all(each.ended_at is not None for each in list_permits(runs))


def test_three_worker_processes_ask_two_at_once(url: str, tmp_path: Path) -> None:
    driver = DbosDriver(tmp_path, url)
    driver.store.queues.set_limit(openai(2))
    try:
        with on_trial(driver, tmp_path, pace=10) as trial:
            for _ in range(WORKERS):
                worker = driver.start_worker({**trial.log.environment(trial.pace), PROVIDER: "openai"})
                assert isinstance(worker, Process)
                trial.workers.append(worker)
            wait_for(lambda: len(driver.store.list_workers()) == WORKERS)
            for some in range(8):  # who takes a run is chance
                for number in range(12):
                    trial.submit(SAMPLES["code-review-straight"], 12 * some + number)
                trial.finish()
                at_once = max(accumulate(1 if line.what == "begun" else -1 for line in trial.log.read()))
                shared = len({line.pid for line in trial.log.read()}) > 1
                if at_once == 2 and shared:
                    break
            assert trial.find_faults() == []
            assert at_once == 2
            assert shared
    finally:
        driver.close()


def test_a_database_of_the_version_before_is_migrated(runs: RunStore) -> None:
    with runs.database.transact() as connection:
        METADATA.drop_all(connection, [permits, provider_limits, schedules])
        table = "runs" if runs.database.is_sqlite else "stagec.runs"
        connection.execute(sa.text(f"ALTER TABLE {table} DROP COLUMN machine"))
        connection.execute(schema_version.update().values(version=1))
    with pytest.raises(Failure, match="too old"):
        check(runs.database)
    migrate(runs.database)
    check(runs.database)
    runs.queues.set_limit(openai(2))
    assert runs.queues.list_limits() == [openai(2)]
    assert Schedules(runs).list_all() == []
    schema = None if runs.database.is_sqlite else "stagec"
    with runs.database.transact() as connection:
        columns = sa.inspect(connection).get_columns("runs", schema)
    (machine,) = (each for each in columns if each["name"] == "machine")
    assert machine["default"] in {"1", "'1'"}  # the runs that are there already began with it
