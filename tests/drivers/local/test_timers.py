"""Waits of runs that are interrupted: who resumes a run waits only for the rest."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Event as Flag
from time import monotonic, sleep, time_ns

import pytest
from runtime.stages.talks import DONE, FAILED, pipeline, stage, submit

from stagec import runs
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import Among
from stagec.ir.plan.node import Edge, Go, Outcome
from stagec.runtime.drivers.history import EventTimes, add_times, dump_event
from stagec.runtime.drivers.local import create, drive, open_journal
from stagec.runtime.drivers.local.drive import restore
from stagec.runtime.drivers.requests import Timers
from stagec.runtime.machine import Answered, Effect, Program, Started, load
from stagec.runtime.machine.exchange import Turn, Wait
from stagec.runtime.machine.state import State, StepResult

SECOND = 1_000_000_000
AGAIN = (Edge("fail", Go("a"), (Among(("reason",), ("provider-failed",)),), 600_000), Edge("fail", FAILED))


def file_of(*edges: Edge) -> bytes:
    """Return the file of a plan of one stage with some edges for its failures."""
    plan = pipeline(a=stage(edges=(Edge("ok", DONE), *edges)))
    return dump(replace(plan, facts=facts(plan)))


PLAN = file_of(*AGAIN)
STARTED = Started("r")


class Waits:
    """A world that keeps the waits that it is asked for; the first one interrupts the run unless it is resumed."""

    def __init__(self, *, resumed: bool) -> None:
        self.seen: list[int] = []
        self._resumed = resumed

    def answer(self, effect: Effect) -> Json:
        if isinstance(effect, Wait):
            self.seen.append(effect.milliseconds)
            if not self._resumed:
                raise InterruptedError
            return {}
        assert isinstance(effect, Turn)
        return submit() if self._resumed else {"error": "busy"}


def interrupt(path: Path, monkeypatch: pytest.MonkeyPatch, ago: int) -> Program:
    """Leave a run in the middle of a wait that began some nanoseconds ago."""
    program = load(PLAN)
    world = Waits(resumed=False)
    monkeypatch.setattr("stagec.runtime.drivers.requests.read_clock", lambda: time_ns() - ago)
    with closing(create(path, PLAN, program.digest)) as journal, pytest.raises(InterruptedError):
        drive(program, journal, world, STARTED)
    monkeypatch.undo()
    assert world.seen == [600_000]
    return program


@pytest.mark.parametrize(
    ("ago", "least", "most"),
    [(200 * SECOND, 390_000, 400_000), (601 * SECOND, 0, 0), (-100 * SECOND, 600_000, 600_000)],
    ids=["a part has passed", "it is over", "the clock was put back"],
)
def test_a_resumed_run_waits_for_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ago: int, least: int, most: int
) -> None:
    path = tmp_path / "r.run"
    program = interrupt(path, monkeypatch, ago)
    world = Waits(resumed=True)
    with closing(open_journal(path)) as journal:
        state = drive(program, journal, world, None)
    assert state.ended is Outcome.DONE
    (rest,) = world.seen
    assert least <= rest <= most


class Slow:
    """A world whose model never answers: it is interrupted, or the deadline passes."""

    def __init__(self, *, resumed: bool) -> None:
        self.seen: list[int] = []
        self.asked = 0
        self._resumed, self._is_over = resumed, Flag()

    def answer(self, effect: Effect) -> Json:
        if isinstance(effect, Wait):
            self.seen.append(effect.milliseconds)
            self._is_over.wait(0 if self._resumed else 20)
            return {}
        self.asked += 1
        if not self._resumed:
            raise InterruptedError
        self._is_over.wait(20)
        return {}

    def cancel(self, _key: str) -> None:
        self._is_over.set()


def interrupt_turn(path: Path, monkeypatch: pytest.MonkeyPatch, ago: int) -> Program:
    """Leave a run in its first turn, whose deadline began some nanoseconds ago."""
    node = stage()
    plan = pipeline(a=replace(node, act=replace(node.act, deadline=600_000)))
    data = dump(replace(plan, facts=facts(plan)))
    program = load(data)
    monkeypatch.setattr("stagec.runtime.drivers.requests.read_clock", lambda: time_ns() - ago)
    with closing(create(path, data, program.digest)) as journal, pytest.raises(InterruptedError):
        drive(program, journal, Slow(resumed=False), STARTED)
    monkeypatch.undo()
    return program


PASSED = "a, attempt 1: the deadline has passed: 10 min"


@pytest.mark.parametrize(("ago", "least", "most"), [(200 * SECOND, 390_000, 400_000), (601 * SECOND, 0, 0)])
def test_a_deadline_of_a_resumed_run_passes_after_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ago: int, least: int, most: int
) -> None:
    path = tmp_path / "r.run"
    program = interrupt_turn(path, monkeypatch, ago)
    world = Slow(resumed=True)
    with closing(open_journal(path)) as journal:
        state = drive(program, journal, world, None)
    with closing(open_journal(path)) as journal:
        assert restore(program, journal.history).reason == state.reason
    assert state.reason == PASSED
    (rest,) = world.seen
    assert least <= rest <= most
    assert world.asked == bool(least)  # nobody is asked when the time is over


def test_a_run_in_a_program_asks_nobody_when_the_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.run"
    interrupt_turn(path, monkeypatch, 601 * SECOND)

    async def resume() -> runs.RunResult:
        async with await runs.resume(path, answers={Turn: pytest.fail}, own=None) as run:
            return await run.result()

    result = asyncio.run(asyncio.wait_for(resume(), 20))
    assert (result.outcome, result.reason) == (Outcome.FAILED, PASSED)


def test_a_run_in_a_program_waits_for_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "r.run"
    interrupt(path, monkeypatch, 200 * SECOND)
    world = Waits(resumed=True)

    async def resume() -> runs.RunResult:
        async with await runs.resume(path, answers={Turn: world.answer, Wait: world.answer}, own=None) as run:
            return await run.result()

    assert asyncio.run(asyncio.wait_for(resume(), 20)).outcome is Outcome.DONE
    (rest,) = world.seen
    assert 390_000 <= rest <= 400_000


def test_a_journal_without_times_waits_for_the_whole() -> None:
    timers = Timers()
    timers.take(StepResult(State(pending={"k": Wait("k", 50_000)}), (Wait("k", 50_000),)), None)
    assert timers.find_rest(Wait("k", 50_000)) == 50_000
    sleep(0.02)
    assert 40_000 < timers.find_rest(Wait("k", 50_000)) < 50_000


def test_times_are_those_of_the_event_that_asked() -> None:
    told = add_times(dump_event(Answered("k", {})), EventTimes(5, 3))
    assert told.endswith('"begun":3,"at":5}')


CHILD = """
import sys, time
from pathlib import Path
from drivers.local.test_timers import KILLED, STARTED
from stagec.runtime.drivers.local.drive import run
from stagec.runtime.machine.exchange import Wait
from runtime.stages.talks import submit

class World:
    def answer(self, effect):
        if isinstance(effect, Wait):
            print(effect.milliseconds, flush=True)
            time.sleep(effect.milliseconds / 1000)
            return {}
        return {"error": "busy"} if "a#1" in effect.key else submit()

run(KILLED, World(), STARTED, Path(sys.argv[1]))
print("done", flush=True)
"""
KILLED = file_of(replace(AGAIN[0], wait=5_000), AGAIN[1])


def test_a_run_that_is_killed_in_a_wait_of_5_s_ends_5_s_after_it_began_to_wait(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CHILD, str(tmp_path / "r.run")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "5000\n"
        begun = monotonic()
        sleep(2)
        child.send_signal(signal.SIGKILL)
    told = subprocess.run(command, capture_output=True, env=environment, text=True, check=True).stdout
    rest, end = told.split()
    assert int(rest) <= 3_000
    assert end == "done"
    assert monotonic() - begun >= 4.9
