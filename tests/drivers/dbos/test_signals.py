"""Signals that meet: pauses, cancellations and waits of one run, and those of runs that cannot be executed."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Flag

import pytest
import sqlalchemy as sa
from in_databases import (
    PATIENCE,
    ScriptedTestWorld,
    submission,
    submit,
    transitions,
    wait_for,
    wait_until,
    working,
)
from playable import judged, stages, steps

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.document import Plan
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import Among
from stagec.ir.plan.node import Edge, Go
from stagec.runtime.drivers.dbos import RunPhase, RunStore
from stagec.runtime.drivers.dbos.database import documents
from stagec.runtime.drivers.dbos.database import runs as rows
from stagec.runtime.drivers.dbos.run_records import Settlement
from stagec.runtime.drivers.messages import MessageKind, write_message
from stagec.runtime.machine import Effect
from stagec.runtime.machine.exchange import Answered, Cancelled, Turn, Wait, read_key

ENDED = (RunPhase.DONE, RunPhase.FAILED)


def send(runs: RunStore, kind: MessageKind, run: str = "one") -> None:
    transitions(runs).send(run, write_message(kind, "terminal"))


class Unfit(ScriptedTestWorld):
    """A world that no worker can open."""

    def open(self, *_given: object) -> Iterator[ScriptedTestWorld]:
        raise Failure("it needs hooks")


class Spelling(ScriptedTestWorld):
    """Answers the stages: `spell` fails at first, and `count` takes as long as somebody wants.

    `count` ends after the wait of `spell`: a run that only waits is put aside until the time has really passed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.over, self.again = Flag(), Flag()
        self.waits: list[int] = []

    def answer(self, effect: Effect) -> Json:
        if isinstance(effect, Wait):
            self.waits.append(effect.milliseconds)
            self.over.wait(min(60.0, effect.milliseconds / 1000))
            return {}
        assert isinstance(effect, Turn)
        key = read_key(effect.key)
        if key.node == "spell" and "/1." in effect.key:
            return {"text": "I cannot spell"}
        if key.node == "count":
            self.over.wait(60)
            self.again.wait(2)
        else:
            self.again.set()
        return {"calls": [{"id": "s", "tool": effect.completion, "arguments": {"words": 1}}]}

    def overlaps(self, _effect: Effect) -> bool:
        return True

    def name_provider(self, _effect: Effect) -> str:
        return ""


@pytest.mark.parametrize("kinds", [(MessageKind.PAUSE, MessageKind.CANCEL), (MessageKind.CANCEL, MessageKind.PAUSE)])
def test_a_run_that_is_paused_and_cancelled_is_cancelled(runs: RunStore, kinds: tuple[MessageKind, ...]) -> None:
    submit(runs, submission("one"))
    for each in kinds:
        send(runs, each)
    with working(runs.database, ScriptedTestWorld()):
        record = wait_until(runs, "one", *ENDED)
    assert record.segment <= 1
    assert runs.read_history(record).events[-1] == Cancelled()


def test_a_run_whose_world_cannot_be_opened_is_cancelled(runs: RunStore) -> None:
    submit(runs, submission("one"))
    with working(runs.database, Unfit()):
        wait_until(runs, "one", RunPhase.WAITING)
        send(runs, MessageKind.CANCEL)
        record = wait_until(runs, "one", *ENDED)
    assert record.segment == 1
    assert runs.read_history(record).events[-1] == Cancelled()


def test_a_run_that_cannot_be_read_is_tried_once_for_each_cancellation(runs: RunStore) -> None:
    given = submission("one")
    submit(runs, given)
    altered = documents.update().where(documents.c.digest == given.digest)
    with runs.database.transact() as connection:
        connection.execute(altered.values(body=dump(steps("exit 1"))))
    with working(runs.database, ScriptedTestWorld()):
        wait_until(runs, "one", RunPhase.INTERRUPTED)
        send(runs, MessageKind.CANCEL)
        wait_for(lambda: runs.find("one").segment == 1 and runs.find("one").phase is RunPhase.INTERRUPTED)
        time.sleep(1)
        assert runs.find("one").segment == 1
        with runs.database.transact() as connection:
            connection.execute(altered.values(body=given.plan))
        send(runs, MessageKind.CANCEL)
        assert wait_until(runs, "one", *ENDED).segment == 2


def test_a_pause_does_not_hide_why_a_run_was_interrupted(runs: RunStore) -> None:
    class Failing(ScriptedTestWorld):
        def answer(self, *_given: object) -> Json:
            send(runs, MessageKind.PAUSE)
            raise Failure("nobody knows")

    submit(runs, submission("one"))
    with working(runs.database, Failing()):
        record = wait_until(runs, "one", RunPhase.INTERRUPTED, RunPhase.PAUSED)
    assert (record.phase, record.reason) == (RunPhase.INTERRUPTED, "nobody knows")
    assert not transitions(runs).read_messages("one")


def test_a_run_that_has_not_begun_keeps_the_time_of_its_beginning(runs: RunStore) -> None:
    submit(runs, submission("one", judged(), delay=3_600_000))
    wake_at = runs.find("one").wake_at
    with pytest.raises(Failure, match="run 'one' has not started: no question waits"):
        transitions(runs).send_answer("one", "one/work#1/1.1", yes=True, by="page")
    send(runs, MessageKind.PAUSE)
    assert runs.find("one").phase is RunPhase.PAUSED
    assert transitions(runs).wake_due() == 0
    transitions(runs).resume("one")
    record = runs.find("one")
    assert (record.phase, record.segment, record.wake_at) == (RunPhase.WAITING, -1, wake_at)
    assert record.reason == "begins later"


def test_a_run_whose_beginning_has_passed_while_it_was_paused_begins_when_it_is_resumed(runs: RunStore) -> None:
    submit(runs, submission("one", delay=3_600_000))
    send(runs, MessageKind.PAUSE)
    with runs.database.transact() as connection:
        connection.execute(rows.update().values(wake_at=1))
    transitions(runs).resume("one")
    with working(runs.database, ScriptedTestWorld()):
        assert wait_until(runs, "one", *ENDED).phase is RunPhase.DONE


def let_time_pass(runs: RunStore, milliseconds: int) -> str:
    """Let so much time pass for the wait of a run that nobody executes; return the key of the wait."""
    ((wait, until),) = runs.find("one").due.items()
    with runs.database.transact() as connection:
        connection.execute(rows.update().values(due=json.dumps({wait: until - milliseconds})))
    return wait


def test_what_is_left_of_a_wait_survives_a_pause(runs: RunStore) -> None:
    submit(runs, submission("one", stages()))
    first, second = Spelling(), Spelling()
    with working(runs.database, first):
        wait_for(lambda: bool(first.waits))
        send(runs, MessageKind.PAUSE)
        wait_until(runs, "one", RunPhase.PAUSED)
        first.over.set()
    wait = let_time_pass(runs, 30_000)
    transitions(runs).resume("one")
    with working(runs.database, second):
        wait_for(lambda: bool(second.waits))
        second.over.set()
        record = wait_until(runs, "one", *ENDED)
    assert second.waits[0] <= 30_000 < first.waits[0]
    asked = [each.key for each in runs.read_history(record).events if isinstance(each, Answered)]
    assert asked.count(wait) == 1


def test_what_is_left_of_a_wait_survives_the_end_of_a_worker(runs: RunStore) -> None:
    submit(runs, submission("one", stages()))
    world = Spelling()
    with working(runs.database, world, grace=0) as worker:
        wait_for(lambda: bool(world.waits))
        worker.drain()
        wait_for(lambda: bool(runs.find("one").due))
        world.over.set()
    let_time_pass(runs, 60_000)
    with working(runs.database, world):
        assert wait_until(runs, "one", *ENDED).phase is RunPhase.DONE
    assert len(world.waits) == 1


def test_the_inputs_of_a_run_are_read_once_however_many_signals_it_has(runs: RunStore) -> None:
    submit(runs, submission("one", inputs={"topic": "x" * 100_000}))
    for number in range(20):
        transitions(runs).send("one", write_message(MessageKind.ANSWER, "page", f"key-{number}", {"yes": True}))
    read: list[int] = []

    @sa.event.listens_for(runs.database.engine, "after_cursor_execute")
    def count(_connection: object, cursor: object, *_given: object) -> None:
        read.append(getattr(cursor, "rowcount", -1))

    taken = transitions(runs).take_up("one")
    assert len(taken.sent) == 20
    assert taken.record.started.inputs == {"topic": "x" * 100_000}
    assert max(read) <= 1


def test_runs_are_woken_by_one_worker_each(runs: RunStore) -> None:
    submit(runs, *(submission(f"run-{number}", delay=1) for number in range(60)))
    with working(runs.database, ScriptedTestWorld()), ThreadPoolExecutor(3) as threads:
        woken = [threads.submit(transitions(runs).wake_due) for _ in range(9)]
        assert all(each.exception() is None for each in woken)
        wait_for(lambda: all(each.ended_at is not None for each in runs.list_records()))
    assert [each.segment for each in runs.list_records()] == [0] * 60


def test_a_segment_that_is_not_the_one_of_the_run_settles_nothing(runs: RunStore) -> None:
    submit(runs, submission("one"))
    record = runs.find("one")
    send(runs, MessageKind.CANCEL)
    assert transitions(runs).settle(record, Settlement(RunPhase.INTERRUPTED, "lost"))
    assert not transitions(runs).settle(record, Settlement(RunPhase.INTERRUPTED, "lost"))
    assert runs.find("one").segment == 1


class Busy(ScriptedTestWorld):
    """Refuses the first request, and never answers a wait: no worker is to hold one of ten minutes."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[int] = []

    def answer(self, effect: Effect) -> Json:
        if isinstance(effect, Wait):
            self.waits.append(effect.milliseconds)
            raise Failure("it waits")
        assert isinstance(effect, Turn)
        if "plan#1/" in effect.key:
            return {"error": "busy"}
        return {"calls": [{"id": "s", "tool": effect.completion, "arguments": {"words": 1}}]}

    def overlaps(self, _effect: Effect) -> bool:
        return True

    def name_provider(self, _effect: Effect) -> str:
        return ""


def test_a_run_that_waits_before_an_edge_is_a_row_until_its_time_has_come(runs: RunStore) -> None:
    plan = stages()
    first = plan.nodes["plan"]
    again = Edge("fail", Go("plan"), (Among(("reason",), ("provider-failed",)),), 600_000)
    plan = replace(plan, nodes={**plan.nodes, "plan": replace(first, edges=(again, *first.edges))})
    submit(runs, submission("one", replace(plan, facts=facts(plan))))
    world = Busy()
    with working(runs.database, world):
        record = wait_until(runs, "one", RunPhase.WAITING)
        assert record.reason == "waits for a time"
        ((wait, due),) = record.due.items()
        assert wait == "one/plan#1/1.1"
        assert 590_000 < due - record.now <= 600_000
    let_time_pass(runs, 600_000)
    with runs.database.transact() as connection:
        connection.execute(rows.update().values(wake_at=1))
    with working(runs.database, world):
        record = wait_until(runs, "one", *ENDED)
    assert record.phase is RunPhase.DONE
    assert not world.waits
    asked = [each.key for each in runs.read_history(record).events if isinstance(each, Answered)]
    assert asked[:3] == ["one/plan#1/1.0", "one/plan#1/1.1", "one/plan#2/1.0"]


class Asking(Busy):
    """Calls a tool that only people may allow, and lets no time pass."""

    def __init__(self) -> None:
        super().__init__()
        self._over: defaultdict[str, Flag] = defaultdict(Flag)

    def answer(self, effect: Effect) -> Json:
        if isinstance(effect, Wait):
            assert self._over[effect.key].wait(PATIENCE)
            return {}
        if isinstance(effect, Turn) and "plan#1/" in effect.key:
            return {"calls": [{"id": "c", "tool": "Bash", "arguments": {}}]}
        return super().answer(effect)

    def cancel(self, key: str) -> None:
        self._over[key].set()


def set_deadline() -> Plan:
    """Return a plan whose first stage begins again when its ten minutes are over."""
    plan = stages()
    first = plan.nodes["plan"]
    late = Edge("fail", Go("plan"), (Among(("reason",), ("deadline-exceeded",)),))
    timed = replace(first, act=replace(first.act, deadline=600_000), edges=(late, *first.edges))
    plan = replace(plan, nodes={**plan.nodes, "plan": timed})
    return replace(plan, facts=facts(plan))


class Counting(Asking):
    """Fails the first visit of the first stage, and counts how often it is asked for; no time passes for waits."""

    def __init__(self) -> None:
        super().__init__()
        self.first = 0

    def answer(self, effect: Effect) -> Json:
        if isinstance(effect, Wait):
            assert effect.milliseconds == 0 or self._over[effect.key].wait(PATIENCE)
            return {}
        if "plan#1/" in effect.key:
            self.first += 1
            raise Failure("nobody knows")
        return super().answer(effect)


def test_a_resumed_run_whose_deadline_has_passed_asks_nobody_first(runs: RunStore) -> None:
    submit(runs, submission("one", set_deadline()))
    world = Counting()
    with working(runs.database, world):
        wait_until(runs, "one", RunPhase.INTERRUPTED)
    assert let_time_pass(runs, 600_000) == "one/plan#1/0.0"
    transitions(runs).resume("one")
    with working(runs.database, world):
        assert wait_until(runs, "one", *ENDED).phase is RunPhase.DONE
    assert world.first == 1


def test_a_deadline_passes_while_nobody_answers_and_no_worker_has_the_run(runs: RunStore) -> None:
    submit(runs, submission("one", set_deadline()))
    world = Asking()
    with working(runs.database, world):
        record = wait_until(runs, "one", RunPhase.WAITING)
        assert record.reason == "waits for an answer"
        ((wait, due),) = record.due.items()
        assert wait == "one/plan#1/0.0"
        assert 590_000 < due - record.now <= 600_000
    let_time_pass(runs, 600_000)
    with runs.database.transact() as connection:
        connection.execute(rows.update().values(wake_at=1))
    with working(runs.database, world):
        record = wait_until(runs, "one", *ENDED)
    assert record.phase is RunPhase.DONE
    asked = [each.key for each in runs.read_history(record).events if isinstance(each, Answered)]
    assert asked[:3] == ["one/plan#1/1.0", "one/plan#1/0.0", "one/plan#2/1.0"]
