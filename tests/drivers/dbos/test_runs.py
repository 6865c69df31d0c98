"""Runs in a database: submitted, executed, steered, taken over, and given back."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event as Flag
from threading import Thread
from typing import Any

import pytest
import sqlalchemy as sa
from campaigns import choose
from in_databases import (
    PATIENCE,
    ScriptedTestWorld,
    state_of,
    submission,
    submit,
    transitions,
    wait_for,
    wait_until,
    working,
)
from playable import judged, steps

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.dbos import (
    QueueLimit,
    RunPhase,
    RunStore,
    Transitions,
    Worker,
    WorkerSettings,
    migrate,
    open_database,
)
from stagec.runtime.drivers.dbos import worker as worker_module
from stagec.runtime.drivers.dbos.database import UnreachableError, documents, workflows
from stagec.runtime.drivers.dbos.database import runs as rows
from stagec.runtime.drivers.dbos.database import steps as steps_of_engine
from stagec.runtime.drivers.dbos.run_records import Settlement, TakenUp
from stagec.runtime.drivers.dbos.run_store import remove_old
from stagec.runtime.drivers.dbos.worker import Heartbeat, WorkerRow, put_back
from stagec.runtime.drivers.history import History
from stagec.runtime.drivers.local import run as run_locally
from stagec.runtime.drivers.messages import MessageKind, OtherAnswerError, write_message
from stagec.runtime.drivers.replay import replay_twice
from stagec.runtime.machine import Effect, State, load
from stagec.runtime.machine.exchange import Answered, Cancelled, Started

ENDED = (RunPhase.DONE, RunPhase.FAILED)
MANY = choose(20, whole=200)


def replay(history: History) -> State:
    found = replay_twice(load(history.plan), load(history.plan), history)
    assert isinstance(found, State), found
    return found


def test_a_run_ends_as_it_does_on_one_machine(runs: RunStore) -> None:
    world = ScriptedTestWorld()
    submit(runs, submission("one"))
    with working(runs.database, world):
        record = wait_until(runs, "one", *ENDED)
    alone = run_locally(dump(steps()), ScriptedTestWorld(), Started("one", inputs={"topic": "cats"}))
    assert record.phase is RunPhase.DONE
    assert replay(runs.read_history(record)) == alone
    assert world.asked == [each.key for each in runs.read_history(record).events if isinstance(each, Answered)]


def test_a_run_is_begun_once_however_often_it_is_submitted(runs: RunStore) -> None:
    assert submit(runs, submission("one"), submission("two")) == [True, True]
    assert submit(runs, submission("one"), submission("three")) == [False, True]
    with working(runs.database, ScriptedTestWorld()):
        wait_until(runs, "three", *ENDED)
    assert submit(runs, submission("one")) == [False]


def test_the_order_of_inputs_means_nothing(runs: RunStore) -> None:
    assert submit(runs, submission("one", inputs={"topic": "cats", "tone": [True]})) == [True]
    assert submit(runs, submission("one", inputs={"tone": [True], "topic": "cats"})) == [False]
    with pytest.raises(Failure, match="with other inputs"):
        submit(runs, submission("one", inputs={"tone": [1], "topic": "cats"}))


@pytest.mark.parametrize("other", [{"inputs": {"topic": "dogs"}}, {"entry": "late"}, {"scenario": "{}"}])
def test_another_run_of_a_name_is_refused(runs: RunStore, other: dict[str, object]) -> None:
    submit(runs, submission("one"))
    with pytest.raises(Failure, match="already has a run 'one'"):
        submit(runs, submission("two"), submission("one", **other))
    assert [each.run for each in runs.list_records()] == ["one"]


def test_a_run_that_asks_people_holds_nothing_and_goes_on_with_the_answer(runs: RunStore) -> None:
    submit(runs, submission("one", judged()))
    with working(runs.database, ScriptedTestWorld()) as worker:
        record = wait_until(runs, "one", RunPhase.WAITING)
        wait_for(lambda: not worker.under_way)
        (key,) = state_of(runs, "one").pending
        transitions(runs).send_answer("one", key, yes=True, by="terminal")
        with pytest.raises(OtherAnswerError):
            transitions(runs).send_answer("one", key, yes=False, by="page")
        ended = wait_until(runs, "one", *ENDED)
    assert (record.segment, ended.segment) == (0, 1)
    assert replay(runs.read_history(ended)).ended is Outcome.DONE
    with pytest.raises(Failure, match="ended"):
        transitions(runs).send_answer("one", key, yes=True, by="terminal")


def test_a_waiting_run_is_paused_resumed_and_cancelled(runs: RunStore) -> None:
    submit(runs, submission("one", judged()))
    with working(runs.database, ScriptedTestWorld()):
        wait_until(runs, "one", RunPhase.WAITING)
        transitions(runs).send("one", write_message(MessageKind.PAUSE, "terminal"))
        assert runs.find("one").phase is RunPhase.PAUSED
        with pytest.raises(Failure, match="paused already"):
            transitions(runs).send("one", write_message(MessageKind.PAUSE, "terminal"))
        transitions(runs).resume("one")
        wait_until(runs, "one", RunPhase.WAITING)
        transitions(runs).send("one", write_message(MessageKind.CANCEL, "terminal"))
        record = wait_until(runs, "one", *ENDED)
    assert runs.read_history(record).events[-1] == Cancelled()
    with pytest.raises(Failure, match="ended"):
        transitions(runs).send("one", write_message(MessageKind.CANCEL, "terminal"))


def test_a_run_that_nobody_can_answer_is_interrupted_and_resumed(runs: RunStore) -> None:
    class Refusing(ScriptedTestWorld):
        def answer(self, *_given: object) -> object:
            raise Failure("nobody knows, with the token ghp_0123456789abcdefghijABCDEFGHIJ")

    submit(runs, submission("one"))
    with working(runs.database, Refusing()):
        record = wait_until(runs, "one", RunPhase.INTERRUPTED)
    assert record.reason == "nobody knows, with the token [redacted]"
    transitions(runs).resume("one")
    with working(runs.database, ScriptedTestWorld()):
        assert wait_until(runs, "one", *ENDED).phase is RunPhase.DONE


def test_a_world_that_cannot_be_opened_interrupts_a_run_and_leaves_no_secret(runs: RunStore) -> None:
    class Broken(ScriptedTestWorld):
        def open(self, *_given: object) -> object:
            raise ValueError("it has the token ghp_0123456789abcdefghijABCDEFGHIJ")

    submit(runs, submission("one"))
    with working(runs.database, Broken()):
        record = wait_until(runs, "one", RunPhase.INTERRUPTED)
    told = r"internal error: ValueError: it has the token \[redacted\] \(test_runs.py:\d+\)"
    assert re.fullmatch(told, record.reason)
    with runs.database.transact() as connection:
        assert connection.execute(sa.select(workflows.c.status)).scalars().all() == ["SUCCESS"]


@pytest.mark.parametrize("is_engine", [True, False])
def test_a_run_goes_on_after_a_segment_that_fails_when_it_has_recorded_events(
    runs: RunStore, monkeypatch: pytest.MonkeyPatch, *, is_engine: bool
) -> None:
    class Failing(ScriptedTestWorld):
        @contextmanager
        def open(self, *_given: object) -> Iterator[ScriptedTestWorld]:
            yield self
            raise ValueError("its server does not end")

    submit(runs, submission("one", judged()))
    with working(runs.database, ScriptedTestWorld()):
        record = wait_until(runs, "one", RunPhase.WAITING)
    (key,) = state_of(runs, "one").pending
    transitions(runs).send_answer("one", key, yes=True, by="terminal")
    if is_engine:
        with monkeypatch.context() as patched, working(runs.database, ScriptedTestWorld()):
            error = sa.exc.OperationalError("UPDATE", {}, Exception("it is restarted"))
            patched.setattr(Transitions, "settle", raising(error))
            wait_for(lambda: len(transitions(runs).list_broken(("ERROR",))) == 1)
        assert transitions(runs).settle(runs.find("one"), Settlement(RunPhase.INTERRUPTED))
    else:
        with working(runs.database, Failing()):
            wait_until(runs, "one", RunPhase.INTERRUPTED)
    assert len(runs.read_history(runs.find("one")).events) > record.summary["events"]
    transitions(runs).resume("one")
    with working(runs.database, ScriptedTestWorld()):
        assert wait_until(runs, "one", RunPhase.INTERRUPTED, *ENDED).phase is RunPhase.DONE


def test_a_run_whose_segment_the_engine_has_given_up_goes_on(runs: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "PACE", 0.2)
    submit(runs, submission("one"))
    with runs.database.transact() as connection:
        connection.execute(workflows.update().values(status="ERROR"))
    with working(runs.database, ScriptedTestWorld()):
        record = wait_until(runs, "one", *ENDED)
    assert (record.phase, record.segment) == (RunPhase.DONE, 1)


def raising(error: Exception) -> Callable[..., None]:
    """Return a function that raises an error."""

    def fail(*_given: object) -> None:
        raise error

    return fail


def test_a_run_begins_later(runs: RunStore) -> None:
    submit(runs, submission("one", delay=1_500))
    with working(runs.database, ScriptedTestWorld()):
        assert runs.find("one").segment == -1
        record = wait_until(runs, "one", *ENDED)
    assert record.ended_at is not None
    assert record.ended_at - record.created_at >= 1_500


def test_a_worker_leaves_runs_of_another_version_to_others(runs: RunStore) -> None:
    submit(runs, submission("old", version="stagec.plan/0+machine.0"), submission("new"))
    with working(runs.database, ScriptedTestWorld()):
        wait_until(runs, "new", *ENDED)
        assert runs.list_queued([runs.find("old")]) == {"old"}
    with working(runs.database, ScriptedTestWorld(), version="stagec.plan/0+machine.0"):
        assert wait_until(runs, "old", *ENDED).phase is RunPhase.DONE


def test_a_worker_gives_back_what_it_cannot_execute(runs: RunStore) -> None:
    class Unfit(ScriptedTestWorld):
        def open(self, *_given: object) -> object:
            raise Failure("it needs hooks")

    submit(runs, submission("one"))
    with working(runs.database, Unfit()) as worker:
        record = wait_until(runs, "one", RunPhase.WAITING)
        assert record.reason == f"worker {worker.name} cannot run it: it needs hooks"
        assert record.wake_at is not None
    with working(runs.database, ScriptedTestWorld()):
        assert wait_until(runs, "one", *ENDED).phase is RunPhase.DONE


def test_an_altered_plan_is_refused(runs: RunStore) -> None:
    given = submission("one")
    submit(runs, given)
    other = dump(steps("exit 1"))
    with runs.database.transact() as connection:
        connection.execute(documents.update().where(documents.c.digest == given.digest).values(body=other))
    with working(runs.database, ScriptedTestWorld()):
        record = wait_until(runs, "one", RunPhase.INTERRUPTED)
    assert "it is not the one that was submitted" in record.reason


def test_what_a_dead_worker_had_is_taken_over(runs: RunStore) -> None:
    submit(runs, submission("one"))
    taken = {"status": "PENDING", "executor_id": "dead", "owner_xid": "nobody"}
    with runs.database.transact() as connection:
        connection.execute(workflows.update().values(taken))
    Heartbeat(runs.database, WorkerRow("dead", "any")).beat()
    with working(runs.database, ScriptedTestWorld(), patience=1.0):
        assert wait_until(runs, "one", *ENDED).phase is RunPhase.DONE
    assert [each.worker for each in runs.list_workers()] == []


def test_what_a_worker_has_taken_and_does_not_execute_is_put_back(runs: RunStore) -> None:
    submit(runs, submission("one"))
    beat, record = Heartbeat(runs.database, WorkerRow("own", "any")), runs.find("one")

    def take() -> None:
        with runs.database.transact() as connection:
            connection.execute(workflows.update().values(status="PENDING", executor_id="own", owner_xid="own"))

    take()
    assert beat.put_back_lost(frozenset({"one/0"}), frozenset({"one/0"})) == frozenset()
    assert beat.put_back_lost(frozenset(), frozenset()) == {"one/0"}
    assert runs.list_queued([record]) == set()
    assert beat.put_back_lost(frozenset(), frozenset({"one/0"})) == frozenset()
    assert runs.list_queued([record]) == {"one"}
    take()
    beat.end()
    assert runs.list_queued([record]) == {"one"}


def test_a_segment_that_is_read_for_long_is_not_lost(runs: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, over, take_up = Flag(), Flag(), Transitions.take_up

    def take_up_slowly(self: Transitions, run: str) -> TakenUp:
        begun.set()
        over.wait(PATIENCE)
        return take_up(self, run)

    monkeypatch.setattr(Transitions, "take_up", take_up_slowly)
    submit(runs, submission("one"))
    with working(runs.database, ScriptedTestWorld()) as worker:
        assert begun.wait(PATIENCE)
        for _ in range(3):
            worker._put_back_lost()
        assert runs.list_queued([runs.find("one")]) == set()
        over.set()
        wait_until(runs, "one", *ENDED)


def test_a_worker_that_takes_again_what_it_still_executes_holds_it_twice(runs: RunStore) -> None:
    first, second = Flag(), Flag()

    class Slow(ScriptedTestWorld):
        def answer(self, effect: Effect) -> Json:
            gate = {0: first, 1: second}.get(len(self.asked))
            answer = super().answer(effect)
            assert gate is None or gate.wait(PATIENCE)
            return answer

    submit(runs, submission("one"))
    world = Slow()
    with working(runs.database, world) as worker:
        wait_for(lambda: len(world.asked) == 1)
        with runs.database.transact() as connection:  # as another worker does, to which this one seems dead
            assert put_back(connection, workflows.c.executor_id == worker.name) == 1
        wait_for(lambda: worker.under_way == len(world.asked) == 2)
        first.set()
        wait_for(lambda: worker.under_way == 1)
        for _ in range(3):
            worker._put_back_lost()
        assert runs.list_queued([runs.find("one")]) == set()
        transitions(runs).send("one", write_message(MessageKind.PAUSE, "me"))
        time.sleep(1)  # it hears of the pause while it waits for the world
        second.set()
        wait_until(runs, "one", RunPhase.PAUSED)
        assert len(world.asked) == 2
        transitions(runs).resume("one")
        replay(runs.read_history(wait_until(runs, "one", *ENDED)))


def test_a_worker_that_ends_hands_on_what_it_executes(runs: RunStore) -> None:
    class Slow(ScriptedTestWorld):
        def answer(self, effect: object) -> object:
            if len(self.asked) == 1:
                worker.drain()
                time.sleep(1.5)
            return super().answer(effect)  # type: ignore[arg-type]

    submit(runs, submission("one"))
    with working(runs.database, Slow(5)) as worker:
        wait_for(lambda: runs.find("one").segment == 1)
    with working(runs.database, ScriptedTestWorld(5)):
        record = wait_until(runs, "one", *ENDED)
    assert record.phase is RunPhase.DONE
    replay(runs.read_history(record))


def test_old_runs_are_removed_with_all_that_is_kept_of_them(runs: RunStore) -> None:
    submit(runs, submission("one"), submission("two", judged()))
    with working(runs.database, ScriptedTestWorld()):
        wait_until(runs, "one", *ENDED)
        wait_until(runs, "two", RunPhase.WAITING)
    assert remove_old(runs, 3600) == 0
    assert remove_old(runs, 0) == 1
    assert [each.run for each in runs.list_records()] == ["two"]
    with runs.database.transact() as connection:
        assert connection.execute(sa.select(workflows.c.workflow_uuid)).scalars().all() == ["two/0"]
        assert connection.execute(sa.select(documents.c.digest)).scalars().all() == [runs.find("two").plan]


def end_long_ago(runs: RunStore, **more: object) -> None:
    """Submit a run, and let it be one that ended long ago."""
    submit(runs, submission("one"))
    with runs.database.transact() as connection:
        connection.execute(rows.update().values(phase=RunPhase.DONE, ended_at=1, **more))


def test_runs_of_many_segments_are_removed_in_parts(runs: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    end_long_ago(runs, segment=1_200)
    removed: list[list[str]] = []
    monkeypatch.setattr(runs.queues.client, "delete_workflows", removed.append)
    assert remove_old(runs, 0) == 1
    assert [name for part in removed for name in part] == [f"one/{each}" for each in range(1_201)]
    assert max(map(len, removed)) <= 500


def test_no_plan_is_removed_of_a_run_that_is_being_submitted(runs: RunStore) -> None:
    end_long_ago(runs)
    removal = Thread(target=remove_old, args=(runs, 0))

    class Slow(RunStore):
        def keep_documents(self, *given: Any) -> None:
            super().keep_documents(*given)
            removal.start()
            removal.join(1)

    submit(Slow(runs.database), submission("new"))
    removal.join(PATIENCE)
    assert runs.load_plan(runs.find("new")) == submission("new").plan


def test_no_pickle_is_written(runs: RunStore) -> None:
    submit(runs, submission("one"))
    with working(runs.database, ScriptedTestWorld()):
        wait_until(runs, "one", *ENDED)
    columns = sa.select(sa.literal_column("serialization"), steps_of_engine.c.output).select_from(steps_of_engine)
    with runs.database.transact() as connection:
        rows = connection.execute(columns).all()
    assert {row[0] for row in rows} == {"portable_json"}
    assert all(isinstance(json.loads(row[1]), str) for row in rows)


def test_what_cannot_be_a_message_is_refused(runs: RunStore) -> None:
    submit(runs, submission("one", judged()))
    large = replace(write_message(MessageKind.ANSWER, "terminal", "k"), answer={"done": "x" * 70_000})
    with pytest.raises(Failure, match="characters"):
        transitions(runs).send("one", large)
    with pytest.raises(Failure, match="no run is called 'two'"):
        transitions(runs).send("two", write_message(MessageKind.CANCEL, "terminal"))
    with pytest.raises(Failure, match=r"no question has the key 'one/else#1/1\.0'"):
        transitions(runs).send_answer("one", "one/else#1/1.0", yes=True, by="terminal")


def test_limits_are_kept_and_listed(runs: RunStore) -> None:
    runs.queues.prepare(None)
    given = [QueueLimit("", 5, 100, 60.0), QueueLimit("acme", 2)]
    for each in given:
        runs.queues.set_limit(each)
    assert sorted(runs.queues.list_limits(), key=lambda each: each.tenant) == given
    submit(runs, submission("one", tenant="acme"), submission("two", tenant="other"))
    with working(runs.database, ScriptedTestWorld()):
        assert {wait_until(runs, each, *ENDED).phase for each in ("one", "two")} == {RunPhase.DONE}
    runs.queues.set_limit(QueueLimit("acme"))
    assert runs.queues.list_limits() == given[:1]


def test_a_worker_takes_no_more_runs_of_a_tenant_with_a_limit_than_of_others(runs: RunStore) -> None:
    runs.queues.prepare(6)
    for each in (QueueLimit("small", 2), QueueLimit("large", 500), QueueLimit("former")):
        runs.queues.set_limit(each)
    wanted = {"stagec.runs": 6, "stagec.runs.small": 2, "stagec.runs.large": 6, "stagec.runs.former": 6}
    for concurrency in (6, None, 4):
        wanted = {name: min(share, concurrency or share) for name, share in wanted.items()}
        runs.queues.prepare(concurrency)
        assert {each.name: each.worker_concurrency for each in runs.queues.client.list_queues()} == wanted


def test_no_transaction_waits_for_a_second_connection(database: str) -> None:
    opened = open_database(database, 1)
    migrate(opened)
    opened.engine.pool._timeout = 1  # type: ignore[attr-defined]
    runs = RunStore(opened)
    submit(runs, submission("one", judged()), submission("later", delay=1))
    wait_for(lambda: transitions(runs).wake_due() == 1)
    record = runs.find("one")
    assert transitions(runs).settle(record, Settlement(RunPhase.PAUSED))
    RunStore(opened).queues.prepare(None)
    transitions(runs).resume("one")
    with opened.transact(), pytest.raises(UnreachableError, match="cannot be used"), opened.transact():
        pass
    opened.close()


def test_a_worker_that_removes_old_runs_for_long_is_not_dead(runs: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, over = Flag(), Flag()

    def remove_slowly(*_given: object) -> None:
        begun.set()
        over.wait(PATIENCE)

    monkeypatch.setattr("stagec.runtime.drivers.dbos.worker.remove_old", remove_slowly)
    with working(runs.database, ScriptedTestWorld(), keep=1.0):
        assert begun.wait(PATIENCE)
        (before,) = runs.list_workers()
        wait_for(lambda: runs.list_workers()[0].beats > before.beats + 1)
        over.set()


def test_a_fault_of_what_looks_around_ends_the_worker(runs: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_given: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Heartbeat, "bury_dead", fail)
    worker = Worker(runs.database, WorkerSettings(ScriptedTestWorld().open, print))
    with pytest.raises(ZeroDivisionError):
        worker.work()
    assert not runs.list_workers()


def test_old_runs_stay_while_the_database_cannot_be_asked(runs: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_given: object) -> None:
        raise sa.exc.OperationalError("DELETE", {}, Exception("the disk is full"))

    end_long_ago(runs)
    monkeypatch.setattr(type(runs.queues.client), "delete_workflows", fail)
    with pytest.raises(Failure, match="cannot be used: the disk is full"):
        remove_old(runs, 0)
    assert runs.has("one")


def test_runs_that_wait_for_people_hold_nothing(runs: RunStore) -> None:
    submit(runs, *(submission(f"run-{each}", judged()) for each in range(MANY)))
    with working(runs.database, ScriptedTestWorld()) as worker:
        wait_for(lambda: len(runs.list_records((RunPhase.WAITING,))) == MANY)
        wait_for(lambda: not worker.under_way)

        def list_taken() -> list[str]:
            with runs.database.transact() as connection:
                return [*connection.execute(sa.select(workflows.c.status).distinct()).scalars()]

        wait_for(lambda: list_taken() == ["SUCCESS"])
        record = runs.find("run-0")
        assert (record.wake_at, record.phase) == (None, RunPhase.WAITING)
