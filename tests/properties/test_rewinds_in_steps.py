"""Random runs whose steps ask a model several times, two at once: taken back and forked within steps, and killed there.

`python -m properties.test_rewinds_in_steps 500` (with `tests` in the path) tries 500 runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Lock
from time import sleep

from campaigns import choose
from playable import steps

from stagec.core.canonical import digest
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.act import Converse
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import VerdictGate
from stagec.ir.plan.node import Edge, Fork, Go, Node, Outcome, Stop
from stagec.runtime.drivers.answer_parts import AnswerParts
from stagec.runtime.drivers.history import History
from stagec.runtime.drivers.local import create, open_journal, read_journal
from stagec.runtime.drivers.local.drive import RunSession, proceed, restore, rewind
from stagec.runtime.drivers.local.journal import fork_journal
from stagec.runtime.drivers.replay import advance_through, list_places, replay_twice
from stagec.runtime.drivers.usage_ledger import UsageLedger
from stagec.runtime.machine import Answered, Effect, Event, Started, State, load
from stagec.runtime.machine.exchange import Ask, Rewound, read_key, whole_key
from stagec.runtime.machine.state import StepResult

_USED: dict[str, Json] = {"input": 1, "output": 0, "cost": "0.01"}


def make_plan() -> bytes:
    """Make a step that leads back, to itself or to two nodes at once, and one that joins these.

    One of the two is a stage that may fail: another step then begins in the middle of the step beside it.
    """
    plan = steps()
    draft, close = plan.nodes["draft"], replace(plan.nodes["close"], validation=None)
    done = Stop(Outcome.DONE)
    ends = replace(draft, edges=(Edge("next", done), Edge("repeat", done)))
    stage = Converse((), (), "submit", digest(b"{}"), 1)
    nodes = {
        "draft": replace(draft, edges=(Edge("next", Fork(("a", "b"), "close")), Edge("repeat", Go("draft")))),
        "close": replace(close, edges=(Edge("closing", done), Edge("repeat", Go("draft")))),
        "a": Node(stage, VerdictGate(), (Edge("ok", done), Edge("fail", Go("c")))),
        "b": ends,
        "c": ends,
    }
    contents = {**plan.contents, digest(b"{}"): "{}"}
    plan = replace(plan, nodes=nodes, contents=contents, limits=replace(plan.limits, parallel=2))
    return dump(replace(plan, facts=facts(plan)))


PLAN = make_plan()


class Killed(BaseException):
    """The process is gone."""


class Loops:
    """Finds some parts of each answer, and is killed before some request; `found` has the parts by their keys."""

    def __init__(self, random: Random) -> None:
        self._random, self._lock = random, Lock()
        self._left = random.randrange(1, 25)
        self.parts = AnswerParts()
        self.found: list[tuple[str, int]] = []

    def _count(self) -> None:
        with self._lock:
            self._left -= 1
            if self._left < 0:
                raise Killed

    def answer(self, effect: Effect) -> Json:
        """Return an answer after its parts; each of these, and the last response, is one request."""
        if not isinstance(effect, Ask):  # a turn of the stage, which hands nothing in
            self._count()
            sleep(0.012)
            return {"text": "", "calls": [], "usage": {**_USED, "requests": 1}}
        known = len(self.parts.list_parts(effect.key))
        is_slow = read_key(effect.key).node == "b"
        total = 6 if is_slow else sum(map(ord, effect.key)) % 4
        for number in range(known, total):
            self._count()
            sleep(0.004 if is_slow else 0)  # the stage fails meanwhile
            self.parts.keep(effect.key, {"text": str(number), "calls": [], "usage": {**_USED, "requests": 1}})
            self.found.append((effect.key, number))
        self._count()
        with self._lock:
            said = self._random.choice(("closing", "repeat") if read_key(effect.key).node == "close" else _SAID)
        used = {"input": total + 1, "output": 0, "cost": f"{(total + 1) / 100:.2f}", "requests": total + 1}
        return {"answer": {"action": said}, "usage": used}

    def observe(self, event: Event, _step: StepResult) -> None:
        """Take what a journal holds."""
        self.parts.observe(event)


_SAID = ("next", "next", "repeat")


def go_on(path: Path, random: Random) -> Loops:
    """Begin a run, or resume it, until it ends or its process is killed."""
    program, world, is_new = load(PLAN), Loops(random), not path.exists()
    with closing(create(path, PLAN, program.digest) if is_new else open_journal(path)) as journal, suppress(Killed):
        state = restore(program, journal.history, world.observe)
        if state.ended is None:
            started = Started("run", inputs={"topic": "winter"}) if is_new else None
            proceed(RunSession(program, journal, world, parts=world.parts), state, started)
    return world


def find_wrong(path: Path) -> Iterator[str]:
    """Yield what is wrong with a run: its replay differs, or a request does not count once."""
    history, program, ledger = read_journal(path), load(PLAN), UsageLedger()
    found = replay_twice(program, program, history)
    if not isinstance(found, State):
        yield f"event {found.seq} differs"
    for event, step in advance_through(program, history.events):
        ledger.take(event, step)
    answers = [each for each in history.events if isinstance(each, Answered)]
    parts = sum(whole_key(each.key) is not None for each in answers)
    ends = sum(whole_key(each.key) is None for each in answers)
    counted = 0 if ledger.total is None else ledger.total.requests
    if counted != parts + ends:
        yield f"{counted} requests count, and {parts} parts and {ends} last responses are there"


def take_back(path: Path, random: Random, number: int) -> Path:
    """Take a run back to a random place, or fork it there; return the run that goes on."""
    history = read_journal(path)
    places = list_places(load(PLAN), history.events)
    if not places:
        return path
    to = random.choice(places).to
    if random.random() < 0.5:
        with closing(open_journal(path)) as journal:
            rewind(journal, Rewound(to))
        return path
    forked = path.with_name(f"fork{number}.run")
    fork_journal(forked, cut(history, to)).close()
    return forked


def cut(history: History, to: int) -> History:
    """Return the first events of a history."""
    return replace(
        history, events=history.events[:to], step_digests=history.step_digests[:to], times=history.times[:to]
    )


def check_run(seed: int, folder: Path) -> list[str]:
    """Execute a run that is killed, taken back and forked; return what is wrong."""
    random, path, wrong = Random(seed), folder / "run.run", list[str]()  # noqa: S311
    for number in range(4):
        found: list[tuple[str, int]] = []
        for _ in range(random.randrange(1, 4)):
            found += go_on(path, random).found
        wrong += [f"a part is found twice: {found}"] * (len(found) != len(set(found)))
        wrong += find_wrong(path)
        path = take_back(path, random, number)
    go_on(path, random)
    return [f"seed {seed}: {each}" for each in (*wrong, *find_wrong(path))]


def check(number: int) -> list[str]:
    """Check so many runs."""
    wrong = []
    for seed in range(number):
        with TemporaryDirectory() as folder:
            wrong += check_run(seed, Path(folder))
    return wrong


def test_a_run_that_is_taken_back_or_forked_within_a_step_replays_and_costs_what_was_answered() -> None:
    assert check(choose(5, whole=500)) == []


if __name__ == "__main__":
    found = check(int(sys.argv[1]))
    sys.stdout.write("\n".join((*found, f"{len(found)} wrong\n")))
