"""A request that another worker answers is journaled call by call: nothing that was found is asked again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event as Flag

import pytest
import sqlalchemy as sa
from in_databases import ScriptedTestWorld, submission, submit, transitions, wait_for, wait_until, working
from playable import steps

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.facts import facts
from stagec.ir.plan.node import Edge, Fork, Go, Outcome, Stop
from stagec.runtime.drivers.answer_parts import AnswerParts
from stagec.runtime.drivers.dbos import RunPhase, RunRecord, RunStore
from stagec.runtime.drivers.dbos.database import messages, workflows
from stagec.runtime.drivers.dbos.fan_out import FanOut
from stagec.runtime.drivers.dbos.run_records import FoundPart
from stagec.runtime.drivers.dbos.worker import put_back
from stagec.runtime.machine import Answered, Effect, Event, Program
from stagec.runtime.machine.exchange import part_key, read_key, whole_key
from stagec.runtime.machine.state import StepResult

_PARTS = 3


def make_plan() -> Plan:
    """Make a step, two steps that are open together, and one that follows."""
    plan = steps()
    ends = (Edge("next", Stop(Outcome.DONE)), Edge("repeat", Go("draft")))
    both = (Edge("next", Fork(("a", "b"), "close")), Edge("repeat", Go("draft")))
    draft = plan.nodes["draft"]
    nodes = {"draft": replace(draft, edges=both), "close": plan.nodes["close"]}
    nodes |= {name: replace(draft, edges=ends) for name in "ab"}
    plan = replace(plan, nodes=nodes, limits=replace(plan.limits, parallel=2))
    return replace(plan, facts=facts(plan))


class LoopWorld(ScriptedTestWorld):
    """Finds three parts of each answer of the two steps; `hold` is called before each part is made."""

    def __init__(self, hold: Callable[[str, int], object] = lambda _node, _number: None) -> None:
        super().__init__(repeats=0)
        self._hold = hold
        self.made: list[tuple[str, int]] = []
        self.cancelled = Flag()

    @contextmanager
    def open(self, _record: RunRecord, _program: Program, _child: str = "") -> Iterator[_OpenLoopWorld]:  # type: ignore[override]
        yield _OpenLoopWorld(self)


class _OpenLoopWorld:
    """The world of one worker for one run."""

    def __init__(self, whole: LoopWorld) -> None:
        self._whole, self.parts = whole, AnswerParts()
        self.takes, self.name_provider = whole.takes, whole.name_provider

    def overlaps(self, _effect: Effect) -> bool:
        return True

    def cancel(self, key: str) -> None:
        self.parts.cancel(key)
        self._whole.cancelled.set()

    def observe(self, event: Event, _step: StepResult) -> None:
        self.parts.observe(event)

    def answer(self, effect: Effect) -> Json:
        node = read_key(effect.key).node
        if node not in {"a", "b"}:
            return self._whole.answer(effect)
        for number in range(len(self.parts.list_parts(effect.key)), _PARTS):
            self._whole.made.append((node, number))
            self._whole._hold(node, number)
            told = {"text": f"{node}{number}", "calls": [], "usage": {"requests": 1}}
            assert self.parts.keep(effect.key, told) == told
        return {"answer": {"action": "next"}}


def list_parts(runs: RunStore, run: str) -> list[str]:
    """Return the texts of the parts in the journal of a run."""
    events = runs.read_history(runs.find(run)).events
    return [each.answer["text"] for each in events if isinstance(each, Answered) and whole_key(each.key) is not None]  # type: ignore[call-overload,index]


def find_faults(runs: RunStore, run: str) -> list[str]:
    """Return what is wrong with the journal of a run that has ended."""
    record, parts = runs.find(run), list_parts(runs, run)
    faults = [] if record.phase is RunPhase.DONE else [f"{record.phase}: {record.reason}"]
    for node in "ab":
        found = [each for each in parts if each.startswith(node)]
        faults += [] if found == [f"{node}{number}" for number in range(_PARTS)] else [f"{node} has {found}"]
    with runs.database.transact() as connection:
        left = connection.execute(sa.select(messages.c.name)).scalars().all()
    return faults + [f"{each} is left" for each in left]


def begin(runs: RunStore, run: str = "one") -> str:
    submit(runs, submission(run, make_plan(), inputs={"topic": "cats"}))
    return run


def test_the_parts_of_all_workers_are_in_the_journal(runs: RunStore) -> None:
    run, world = begin(runs), LoopWorld()
    with working(runs.database, world, fans_out=True) as worker:
        wait_until(runs, run, RunPhase.DONE, RunPhase.FAILED, RunPhase.INTERRUPTED)
        assert worker.tally.counts()["children"] == 1
    assert find_faults(runs, run) == []
    assert Counter(world.made) == Counter((node, number) for node in "ab" for number in range(_PARTS))


@pytest.mark.parametrize("way", ["stop", "removal", "death"])
def test_whoever_goes_on_repeats_only_what_was_under_way(runs: RunStore, way: str) -> None:
    def hold(node: str, number: int) -> None:
        if number == 1 and not held.is_set():
            over.wait(20)

    over, held = Flag(), Flag()
    run, world = begin(runs), LoopWorld(hold)
    with working(runs.database, world, fans_out=True, grace=0.1 if way == "stop" else 5):
        wait_for(lambda: len(world.made) == 4 and len(list_parts(runs, run)) == 2)
        held.set()
        if way == "removal":
            with runs.database.transact() as connection:
                names = list(connection.execute(sa.select(workflows.c.workflow_uuid)).scalars())
            runs.queues.client.delete_workflows([each for each in names if "@" in each])
        elif way == "death":  # another worker, which is this one here, takes the child
            with runs.database.transact() as connection:
                put_back(connection, workflows.c.workflow_uuid.contains("@"))
        else:
            over.set()
        if way != "stop":
            wait_for(world.cancelled.is_set)
            over.set()
            wait_until(runs, run, RunPhase.DONE, RunPhase.FAILED, RunPhase.INTERRUPTED)
    if way == "stop":
        with working(runs.database, world, fans_out=True):
            wait_until(runs, run, RunPhase.DONE, RunPhase.FAILED, RunPhase.INTERRUPTED)
    assert find_faults(runs, run) == []
    repeated = Counter(world.made) - Counter((node, number) for node in "ab" for number in range(_PARTS))
    assert set(repeated) <= {("a", 1), ("b", 1)}
    assert all(count == 1 for count in repeated.values())


def test_a_worker_that_takes_its_own_child_again_cancels_the_earlier_execution(runs: RunStore) -> None:
    fan_out, cancelled = FanOut(transitions(runs), "worker"), list[str]()
    with ExitStack() as earlier, ExitStack() as later:
        earlier.enter_context(fan_out.executing("child", lambda: cancelled.append("earlier")))
        assert cancelled == []
        later.enter_context(fan_out.executing("child", lambda: cancelled.append("later")))
        assert cancelled == ["earlier"]
        earlier.close()
        fan_out.give_back()
        assert cancelled == ["earlier", "later"]


def test_a_worker_that_is_told_to_end_writes_what_still_comes_and_begins_nothing(runs: RunStore) -> None:
    def hold(node: str, _number: int) -> None:
        begun.append(node)
        drained.wait(20)
        time.sleep(0.5 if node == "a" else 0)

    begun, drained = list[str](), Flag()
    run, world = begin(runs), LoopWorld(hold)
    with working(runs.database, world) as worker:
        wait_for(lambda: len(begun) == 2)
        worker.drain()
        wait_for(lambda: all(each.is_draining for each in runs.list_workers()))
        time.sleep(0.4)
        drained.set()
    assert sorted(list_parts(runs, run)) == ["a0", "b0"]
    assert sorted(world.made) == [("a", 0), ("b", 0)]
    with working(runs.database, world):
        wait_until(runs, run, RunPhase.DONE, RunPhase.FAILED, RunPhase.INTERRUPTED)
    assert find_faults(runs, run) == []
    assert len(world.made) == len(set(world.made))


def test_a_part_that_nobody_has_recorded_is_taken_by_the_next_worker(runs: RunStore) -> None:
    """A worker that is killed leaves parts which its run has not heard of; also one without `--fan-out` takes them."""
    over = Flag()
    run, world = begin(runs), LoopWorld(lambda _node, _number: over.wait(20))
    with working(runs.database, world, grace=0.1):
        wait_for(lambda: len(world.made) == 2)
        (key,) = (key for key in runs.fold(runs.find(run))[1].pending if "/b#" in key)
        told = {"text": "b0", "calls": [], "usage": {"requests": 1}}
        record, steering = runs.find(run), transitions(runs)
        part = FoundPart(Answered(part_key(key, 1), told), AnswerParts().digest_parts(key))
        steering.send_part(record, part)
        with pytest.raises(Failure, match="nobody needs the part"):
            steering.send_part(record, part)
    over.set()
    with pytest.raises(Failure, match="nobody needs the part"):
        steering.send_part(record, part)
    later = LoopWorld()
    with working(runs.database, later):
        wait_until(runs, run, RunPhase.DONE, RunPhase.FAILED, RunPhase.INTERRUPTED)
    assert find_faults(runs, run) == []
    assert Counter(later.made) == Counter([("a", 0), ("a", 1), ("a", 2), ("b", 1), ("b", 2)])
