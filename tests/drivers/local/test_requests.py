"""Requests that are under way together: as many as the plan allows, and none that nobody needs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier, Event, Lock, current_thread, main_thread
from time import sleep

import pytest
from playable import stages

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.local import Inbox, Journal, RunSession, create, drive, open_journal, proceed, read_journal
from stagec.runtime.drivers.replay import replay_twice
from stagec.runtime.machine import Answered, Cancelled, Effect, Program, Started, State, load
from stagec.runtime.machine.exchange import Call, Turn, read_key
from stagec.runtime.world.models.port import ProviderOutage

TOP = Path(__file__).parents[3]
STARTED = Started("one")
SIBLINGS = ["one/count#1/1.0", "one/spell#1/1.0"]
PATIENCE = 20.0


def submit(effect: Effect) -> Json:
    """Return the turn that hands a result in."""
    assert isinstance(effect, Turn)
    return {"calls": [{"id": "s", "tool": effect.completion, "arguments": {"words": 1}}]}


class Meeting:
    """A world in which so many requests that are not the first wait for each other."""

    def __init__(self, together: int) -> None:
        self._barrier, self._lock = Barrier(together, timeout=PATIENCE), Lock()
        self.asked: list[str] = []
        self.most = self._now = 0

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        with self._lock:
            self.asked.append(effect.key)
            self._now += 1
            self.most = max(self.most, self._now)
        answer = self.meet(effect)
        with self._lock:
            self._now -= 1
        return answer

    def meet(self, effect: Effect) -> Json:
        """Wait for the others, if the request is one of those."""
        if read_key(effect.key).node != "plan":
            self._barrier.wait()
        return submit(effect)


class Held:
    """A world in which `spell` goes on until it is cancelled, and `count` fails once that has begun."""

    def __init__(self, fail: Callable[[], Json]) -> None:
        self._fail, self._begun, self._over = fail, Event(), Event()
        self.asked: list[str] = []
        self.cancelled: list[str] = []
        self.ended: list[str] = []

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        self.asked.append(effect.key)
        node = read_key(effect.key).node
        if node == "spell":
            self._begun.set()
            assert self._over.wait(PATIENCE)
            self.ended.append(effect.key)
        if node == "count":
            assert self._begun.wait(PATIENCE)
            return self._fail()
        return submit(effect)

    def cancel(self, key: str) -> None:
        """Let `spell` return."""
        self.cancelled.append(key)
        self._over.set()


@pytest.fixture
def program() -> Program:
    return load(dump(stages()))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "one.run"


@pytest.fixture
def journal(path: Path, program: Program) -> Iterator[Journal]:
    made = create(path, dump(program.plan), program.digest)
    yield made
    made.close()


def run_again(path: Path, program: Program, world: Held | Meeting) -> State:
    """Go on with a run that was interrupted."""
    reopened = open_journal(path)
    state = drive(program, reopened, world, None)
    reopened.close()
    return state


def test_siblings_are_asked_together(program: Program, journal: Journal, path: Path) -> None:
    world = Meeting(2)
    state = drive(program, journal, world, STARTED)
    assert (state.ended, sorted(world.asked[1:]), world.most) == (Outcome.DONE, SIBLINGS, 2)
    journal.close()
    assert replay_twice(program, load(dump(program.plan)), read_journal(path)) == state


class Down(Meeting):
    """A world whose provider does not answer `count`, which is asked first, before `spell` has its answer."""

    def __init__(self) -> None:
        super().__init__(2)
        self._failed = Event()

    def meet(self, effect: Effect) -> Json:
        """Fail the first sibling, and answer the second one a little later."""
        node = read_key(effect.key).node
        if node == "count":
            self._failed.set()
            raise ProviderOutage("it is down", 60)
        if node == "spell":
            assert self._failed.wait(PATIENCE)
            sleep(0.05)
        return submit(effect)


def test_an_outage_loses_no_answer_of_a_sibling(program: Program, journal: Journal, path: Path) -> None:
    with pytest.raises(ProviderOutage):
        drive(program, journal, Down(), STARTED)
    journal.close()
    answered = [each.key for each in read_journal(path).events if isinstance(each, Answered)]
    assert answered[-1] == SIBLINGS[1]
    again = Meeting(1)
    assert run_again(path, program, again).ended is Outcome.DONE
    assert SIBLINGS[1] not in again.asked


class Broken(Meeting):
    """A world in which `count` ends the asking in the main thread, when `spell` has been answered in another one."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(1)
        self._error = error

    def overlaps(self, effect: Effect) -> bool:
        """Tell whether a request may be under way beside others."""
        return effect.key != SIBLINGS[0]

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        if effect.key != SIBLINGS[0]:
            return super().answer(effect)
        sleep(0.05)
        raise self._error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Failure("no answer")])
def test_what_has_arrived_when_the_asking_ends_is_written(
    program: Program, journal: Journal, path: Path, error: BaseException
) -> None:
    with pytest.raises(type(error)):
        drive(program, journal, Broken(error), STARTED)
    journal.close()
    again = Meeting(1)
    assert run_again(path, program, again).ended is Outcome.DONE
    assert again.asked == SIBLINGS[:1]


def calling(parallel: int) -> Plan:
    """Return a plan of which so many requests may be under way."""
    plan = stages()
    return replace(plan, limits=replace(plan.limits, parallel=parallel))


class Calling(Meeting):
    """A world whose first turn makes six calls."""

    def meet(self, effect: Effect) -> Json:
        """Let calls wait for each other."""
        if isinstance(effect, Call):
            self._barrier.wait()
            return {"value": effect.id}
        assert isinstance(effect, Turn)
        if read_key(effect.key).node == "plan" and len(effect.transcript) == 1:
            return {"calls": [{"id": str(number), "tool": "Read"} for number in range(6)]}
        self.told = [each.text for each in effect.transcript if each.role == "tool"]
        return submit(effect)


@pytest.mark.parametrize("parallel", [1, 2, 3, 6])
def test_calls_of_a_turn_are_made_together_as_many_as_the_plan_allows(tmp_path: Path, parallel: int) -> None:
    program = load(dump(calling(parallel)))
    journal = create(tmp_path / "one.run", dump(program.plan), program.digest)
    world = Calling(parallel)
    assert drive(program, journal, world, STARTED).ended is Outcome.DONE
    journal.close()
    assert world.most == parallel
    calls = [each for each in read_journal(tmp_path / "one.run").events if isinstance(each, Answered)][1:7]
    assert sorted(str(each.answer["value"]) for each in calls) == list("012345")  # type: ignore[index,call-overload]


def test_the_failure_of_a_sibling_cancels_the_request_of_the_other(
    program: Program, journal: Journal, path: Path
) -> None:
    world = Held(lambda: {"error": "down"})
    state = drive(program, journal, world, STARTED)
    assert state.reason == "count, attempt 1: the provider failed: down"
    assert world.cancelled == world.ended == [SIBLINGS[1]]
    journal.close()
    assert SIBLINGS[1] not in [each.key for each in read_journal(path).events if isinstance(each, Answered)]


def test_an_error_ends_what_is_under_way_and_all_of_it_is_asked_again_by_the_same_keys(
    program: Program, journal: Journal, path: Path
) -> None:
    def fail() -> Json:
        raise Failure("no answer")

    world = Held(fail)
    with pytest.raises(Failure, match="no answer"):
        drive(program, journal, world, STARTED)
    assert world.cancelled == world.ended == [SIBLINGS[1]]
    journal.close()
    again = Meeting(2)
    assert run_again(path, program, again).ended is Outcome.DONE
    assert sorted(again.asked) == SIBLINGS


def test_an_interruption_ends_what_is_under_way(program: Program, journal: Journal) -> None:
    def interrupt(event: object, _step: object) -> None:
        if isinstance(event, Answered) and event.key == SIBLINGS[0]:
            raise KeyboardInterrupt

    world = Held(lambda: submit(Turn("", (), (), "submit", "")))
    with pytest.raises(KeyboardInterrupt):
        drive(program, journal, world, STARTED, interrupt)
    assert world.cancelled == world.ended == [SIBLINGS[1]]


def test_what_is_put_into_the_inbox_happens_while_the_world_answers(program: Program, path: Path) -> None:
    inbox = Inbox()

    class Told(Held):
        def answer(self, effect: Effect) -> Json:
            if effect.key == SIBLINGS[1]:
                inbox.put(Cancelled("interrupted"))
            return super().answer(effect)

    world = Told(lambda: world._over.wait(PATIENCE))
    journal = create(path, dump(program.plan), program.digest)
    state = proceed(RunSession(program, journal, world, inbox=inbox), State(), STARTED)
    journal.close()
    assert (state.ended, state.reason) == (Outcome.FAILED, "count, attempt 1: cancelled: interrupted")
    assert read_journal(path).events[-1] == Cancelled("interrupted")
    assert world.ended == [SIBLINGS[1]]


def test_with_an_inbox_no_request_keeps_the_thread_that_asks(program: Program, journal: Journal) -> None:
    asked = []

    class World:
        def answer(self, effect: Effect) -> Json:
            asked.append(current_thread() is main_thread())
            return submit(effect)

    proceed(RunSession(program, journal, World(), inbox=Inbox()), State(), STARTED)
    assert asked == [False, False, False]


def test_nobody_waits_for_a_request_that_a_world_cannot_cancel(program: Program, journal: Journal) -> None:
    begun, over = Event(), Event()

    class Stubborn:
        def answer(self, effect: Effect) -> Json:
            if effect.key == SIBLINGS[1]:
                begun.set()
                over.wait(PATIENCE)
            elif effect.key == SIBLINGS[0]:
                assert begun.wait(PATIENCE)
                return {"error": "down"}
            return submit(effect)

    assert drive(program, journal, Stubborn(), STARTED).ended is Outcome.FAILED
    over.set()


def test_a_world_whose_requests_do_not_overlap_is_asked_by_one_thread_in_order(
    program: Program, journal: Journal
) -> None:
    asked = []

    class Alone:
        def overlaps(self, _effect: Effect) -> bool:
            return False

        def answer(self, effect: Effect) -> Json:
            asked.append((effect.key, current_thread() is main_thread()))
            return submit(effect)

    drive(program, journal, Alone(), STARTED)
    assert asked == [(key, True) for key in ("one/plan#1/1.0", *SIBLINGS)]


BLOCKED = """
import os
import sys
from pathlib import Path
from threading import Event
from playable import stages
from drivers.local.test_requests import STARTED, submit
from stagec.runtime.drivers.local import run
from stagec.ir.plan import dump

class World:
    def answer(self, effect):
        if "plan#" not in effect.key:
            os.write(1, (effect.key + chr(10)).encode())
            Event().wait()
        return submit(effect)

run(dump(stages()), World(), STARTED, Path(sys.argv[1]))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_was_under_way_when_a_process_ended_is_asked_again_by_the_same_keys(
    number: int, path: Path, program: Program
) -> None:
    around = {**os.environ, "PYTHONPATH": os.pathsep.join((str(TOP / "compiler"), str(TOP / "tests")))}
    words = [sys.executable, "-c", BLOCKED, str(path)]
    with subprocess.Popen(words, env=around, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        asked = sorted(process.stdout.readline().strip() for _ in SIBLINGS)
        process.send_signal(number)
        assert process.wait(PATIENCE) != 0
    again = Meeting(2)
    assert run_again(path, program, again).ended is Outcome.DONE
    assert sorted(again.asked) == asked == SIBLINGS
