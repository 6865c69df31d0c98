"""Requests of a run that are open together are workflows, which any worker executes; nothing else is different."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event as Flag
from threading import get_ident

import pytest
import sqlalchemy as sa
from campaigns import choose
from conformance.judge import Judge
from conformance.ports.dbos import DbosDriver
from conformance.samples import SAMPLES, Sample
from conformance.trial import on_trial, strike
from in_databases import ScriptedTestWorld, submit, transitions, wait_for, wait_until, working

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.runtime.drivers.dbos import RunPhase, RunRecord, RunStore, Submission
from stagec.runtime.drivers.dbos.database import workflows
from stagec.runtime.drivers.dbos.run_store import remove_old
from stagec.runtime.drivers.messages import MessageKind, write_message
from stagec.runtime.machine import Effect, Program
from stagec.runtime.world.models.port import ProviderOutage

FORKED = SAMPLES["scopes-fork-in-fork"]
"""It makes two requests, and then up to two at once."""


class SampleWorld(ScriptedTestWorld):
    """Answers the requests of samples; who is asked in which thread is noted, and `hold` may keep an answer back."""

    def __init__(self, hold: Callable[[Effect], object] = lambda _effect: time.sleep(0.1)) -> None:
        super().__init__()
        self._hold = hold
        self.threads: dict[str, int] = {}
        self.observed: list[str] = []
        self.cancelled: list[str] = []
        self.opened = 0

    @contextmanager
    def open(self, record: RunRecord, program: Program, child: str = "") -> Iterator[SampleWorld]:
        self.opened += 1
        with super().open(record, program, child):
            yield self

    def answer(self, effect: Effect) -> Json:
        self.asked.append(effect.key)
        self.threads[effect.key] = get_ident()
        self._hold(effect)
        return FORKED.answer(effect.key)

    def overlaps(self, _effect: Effect) -> bool:
        return True

    def cancel(self, key: str) -> None:
        self.cancelled.append(key)

    def observe(self, event: object, _step: object) -> None:
        self.observed.append(getattr(event, "key", ""))


def is_of_fork(key: str) -> bool:
    return key.partition("/")[2].startswith(("a#", "b#"))


def is_forked(effect: Effect) -> bool:
    """Tell whether a request is one of the first two that are open together."""
    return is_of_fork(effect.key)


def submit_sample(runs: RunStore, number: int = 0, sample: Sample = FORKED) -> str:
    given = sample.submission(number)
    digest = sample.program.digest
    submit(runs, Submission(given.run, given.plan, digest, given.entry, given.inputs))
    return given.run


def find_faults(runs: RunStore, run: str) -> list[str]:
    record = runs.find(run)
    return list(Judge(run, FORKED, runs.read_history(record)).find_faults())


def list_children(runs: RunStore) -> Sequence[tuple[str, str]]:
    query = sa.select(workflows.c.workflow_uuid, workflows.c.status).where(workflows.c.workflow_uuid.contains("@"))
    with runs.database.transact() as connection:
        return [(name, status) for name, status in connection.execute(query)]


def test_a_run_ends_as_in_memory_and_its_children_leave_nothing(runs: RunStore) -> None:
    world = SampleWorld()
    run = submit_sample(runs)
    with working(runs.database, world, fans_out=True) as worker:
        assert wait_until(runs, run, RunPhase.DONE, RunPhase.FAILED).ended_at is not None

        assert worker.tally.counts()["children"] >= 1
        assert worker.told == []  # type: ignore[attr-defined]
    assert find_faults(runs, run) == []
    assert len(world.asked) == len(set(world.asked))
    assert list_children(runs) == []


def test_without_fan_out_nothing_becomes_a_workflow(runs: RunStore) -> None:
    run = submit_sample(runs)
    with working(runs.database, SampleWorld()) as worker:
        wait_until(runs, run, RunPhase.DONE, RunPhase.FAILED)
        assert "children" not in worker.tally.counts()
    assert find_faults(runs, run) == []
    assert {each.name for each in runs.queues.client.list_queues()} == {"stagec.runs"}


def test_whoever_has_the_run_hears_what_others_have_answered(runs: RunStore) -> None:
    world = SampleWorld()
    run = submit_sample(runs)
    with working(runs.database, world, fans_out=True) as worker:
        wait_until(runs, run, RunPhase.DONE, RunPhase.FAILED)
        children = worker.tally.counts()["children"]
    assert len([each for each in world.observed if each]) >= children
    assert world.opened == children + 1


@pytest.mark.parametrize("way", ["failure", "fault"])
def test_a_child_that_fails_interrupts_the_run_and_says_why(runs: RunStore, way: str) -> None:
    def hold(effect: Effect) -> None:
        if is_forked(effect) and world.asked.index(effect.key) == 2:  # the one that the segment makes itself
            over.wait(20)
        elif is_forked(effect):
            raise Failure("the tool is away") if way == "failure" else ZeroDivisionError("oh")

    run, world, over = submit_sample(runs), SampleWorld(hold), Flag()
    with working(runs.database, world, fans_out=True):
        record = wait_until(runs, run, RunPhase.INTERRUPTED, RunPhase.DONE)
        over.set()
    assert record.phase is RunPhase.INTERRUPTED
    told = {"failure": "the tool is away", "fault": r"internal error: ZeroDivisionError: oh \(test_fan_out.py:\d+\)"}
    assert re.fullmatch(told[way], record.reason)


def test_an_outage_of_a_child_lets_the_run_rest_and_loses_no_answer(runs: RunStore) -> None:
    def hold(effect: Effect) -> None:
        if is_forked(effect) and world.asked.index(effect.key) == 2:  # the one that the segment makes itself
            time.sleep(0.3)
        elif is_forked(effect) and not failed:
            failed.append(effect.key)
            raise ProviderOutage("the provider is down", 0.01)

    world, failed = SampleWorld(hold), list[str]()
    run = submit_sample(runs)
    with working(runs.database, world, fans_out=True):
        assert wait_until(runs, run, RunPhase.DONE, RunPhase.FAILED).phase is RunPhase.DONE
    assert find_faults(runs, run) == []
    assert sorted(world.asked) == sorted([*set(world.asked), *failed])


def test_a_child_that_cannot_be_executed_comes_back(runs: RunStore) -> None:
    class Refusing(SampleWorld):
        @contextmanager
        def open(self, record: RunRecord, program: Program, child: str = "") -> Iterator[SampleWorld]:
            if self.opened:
                self.opened += 1
                raise Failure("no such server here")
            with super().open(record, program, child):
                yield self

    world = Refusing()
    run = submit_sample(runs)
    with working(runs.database, world, fans_out=True) as worker:
        wait_until(runs, run, RunPhase.DONE, RunPhase.FAILED)
        told = worker.told  # type: ignore[attr-defined]
    assert find_faults(runs, run) == []
    assert world.opened > 1
    assert all("is returned: " in each and "no such server here" in each for each in told)
    assert len(told) == world.opened - 1


def test_a_run_that_is_cancelled_or_paused_ends_its_children(runs: RunStore) -> None:
    over = Flag()
    world = SampleWorld(lambda effect: is_forked(effect) and over.wait(60))
    runs_, steering = [submit_sample(runs, number) for number in range(2)], transitions(runs)
    with working(runs.database, world, fans_out=True):
        wait_for(lambda: len(world.asked) >= 8)
        steering.send(runs_[0], write_message(MessageKind.CANCEL, "terminal"))
        steering.send(runs_[1], write_message(MessageKind.PAUSE, "terminal"))
        wait_until(runs, runs_[1], RunPhase.PAUSED)
        wait_for(lambda: runs.find(runs_[0]).ended_at is not None)
        wait_for(lambda: all(status == "CANCELLED" for _, status in list_children(runs)))
        wait_for(lambda: set(world.cancelled) >= set(filter(is_of_fork, world.asked)))
        over.set()
        steering.resume(runs_[1])
        wait_until(runs, runs_[1], RunPhase.DONE, RunPhase.FAILED)
    assert find_faults(runs, runs_[1]) == []
    with runs.database.transact() as connection:
        connection.execute(workflows.update().values(completed_at=1))
    remove_old(runs, 60)
    assert list_children(runs) == []


def test_a_worker_that_is_told_to_end_hands_on_its_children(runs: RunStore) -> None:
    over = Flag()
    run = submit_sample(runs)
    held = SampleWorld(lambda effect: is_forked(effect) and over.wait(3))
    with working(runs.database, held, fans_out=True, grace=1):
        wait_for(lambda: len(held.asked) >= 4)
    over.set()
    free = SampleWorld()
    with working(runs.database, free, fans_out=True):
        wait_until(runs, run, RunPhase.DONE, RunPhase.FAILED)
    assert find_faults(runs, run) == []


def test_no_child_keeps_a_secret(runs: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", "swordfish-1234567")
    over, seen = Flag(), Flag()

    def hold(effect: Effect) -> None:
        if is_forked(effect) and world.asked.index(effect.key) == 2:  # the one that the segment makes itself
            over.wait(60)
        elif is_forked(effect):
            seen.set()
            raise Failure("refused: swordfish-1234567")

    submit_sample(runs)
    world = SampleWorld(hold)
    with working(runs.database, world, fans_out=True):
        assert seen.wait(60)
        wait_for(lambda: any(status == "SUCCESS" for _, status in list_children(runs)))
        (name,) = (name for name, status in list_children(runs) if status == "SUCCESS")
        told = str(runs.queues.client.retrieve_workflow(name).get_result())
        over.set()
    assert "refused" in told
    assert "swordfish" not in told


def test_a_child_that_somebody_removes_is_made_by_whoever_has_the_run(runs: RunStore) -> None:
    over = Flag()
    world = SampleWorld(lambda effect: is_forked(effect) and over.wait(60))
    run = submit_sample(runs)
    with working(runs.database, world, fans_out=True):
        wait_for(lambda: len(world.asked) == 4)
        runs.queues.client.delete_workflows([name for name, _ in list_children(runs)])
        wait_for(lambda: len(world.asked) == 5)
        over.set()
        wait_until(runs, run, RunPhase.DONE, RunPhase.FAILED)
    assert find_faults(runs, run) == []


def test_two_worker_processes_make_the_requests_of_one_run(url: str, tmp_path: Path) -> None:
    driver = DbosDriver(tmp_path, url, ("--fan-out",))
    try:
        with on_trial(driver, tmp_path, pace=300) as trial:
            for _ in range(2):
                trial.start_worker()
            wait_for(lambda: len(driver.store.list_workers()) == 2)
            for some in range(6):  # who takes a child is chance
                for number in range(4):
                    trial.submit(FORKED, 4 * some + number)
                trial.finish()
                lines = trial.log.read()
                makers = [{each.pid for each in lines if each.key.startswith(f"{run}/")} for run in trial.submitted]
                if any(len(each) == 2 for each in makers):
                    break
            assert trial.find_faults() == []
            assert any(len(each) == 2 for each in makers)
    finally:
        driver.close()


def test_kills_of_workers_change_nothing(url: str, tmp_path: Path) -> None:
    driver = DbosDriver(tmp_path, url, ("--fan-out",))
    try:
        with on_trial(driver, tmp_path, pace=20) as trial:
            for number in range(4):
                trial.submit(FORKED, number)
            strike(trial, random.Random(3), kills=choose(2, whole=4), workers=2)  # noqa: S311
            assert trial.find_faults() == []
    finally:
        driver.close()
