"""Random runs, taken back and forked at random places, and opened again at any moment: the replay is equal.

`python -m properties.test_rewinds 500` (with `tests` in the path) tries 500 runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from campaigns import choose
from playable import steps
from random_steps import make_graph, make_plan

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import Plan, dump
from stagec.runtime.drivers.history import History
from stagec.runtime.drivers.local import create, open_journal, read_journal
from stagec.runtime.drivers.local.drive import drive, rewind
from stagec.runtime.drivers.local.journal import Journal, fork_journal
from stagec.runtime.drivers.replay import advance_through, fold_events, list_places, replay_twice
from stagec.runtime.drivers.usage_ledger import UsageLedger
from stagec.runtime.machine import Effect, Program, Started, State, load
from stagec.runtime.machine.exchange import Ask, Rewound


class Killed(BaseException):
    """The process is gone."""


class Chance:
    """Answers by chance, and is killed after some answers; `asked` counts them."""

    def __init__(self, random: Random, asked: int = 0) -> None:
        self._random, self.asked = random, asked
        self._left = random.randrange(1, 12)

    def answer(self, effect: Effect) -> Json:
        """Return an answer that names some edge, with one token of cost."""
        self._left -= 1
        if self._left < 0:
            raise Killed
        if not isinstance(effect, Ask):
            return {"exit": self._random.choice((0, 1)), "stdout": "", "stderr": ""}
        self.asked += 1
        answer: Json = {"do": f"way{self._random.randrange(4)}", "action": self._random.choice(_SAID)}
        return {"answer": answer, "usage": {"input": 1, "requests": 1, "cost": "0.01"}}


_SAID = ("next", "repeat", "closing", "abort")


def make_random_plan(random: Random) -> Plan:
    """Make a plan of steps: a random graph, or one with a command that must pass."""
    return steps() if random.random() < 0.2 else make_plan(make_graph(random, random.randrange(2, 7), 6), 30)


def count_used(program: Program, history: History) -> int:
    """Return how many requests the history says that models have answered."""
    ledger = UsageLedger()
    for event, step in advance_through(program, history.events):
        ledger.take(event, step)
    return 0 if ledger.total is None else ledger.total.requests


def go_on(journal: Journal, plan: bytes, world: Chance, started: Started | None) -> None:
    """Execute a run until it ends or its process is killed."""
    with closing(journal), suppress(Killed):
        drive(load(plan), journal, world, started)


def find_wrong(plan: bytes, path: Path, asked: int) -> Iterator[str]:
    """Yield what is wrong with a run: its replay differs, or its cost is not what was answered."""
    history = read_journal(path)
    found = replay_twice(load(plan), load(plan), history)
    if not isinstance(found, State):
        yield f"event {found.seq} differs"
    used = count_used(load(plan), history)
    if used != asked:
        yield f"{used} requests, and {asked} were answered"


def check_run(seed: int, folder: Path) -> list[str]:
    """Execute a run that is killed, taken back and forked; return what is wrong."""
    random = Random(seed)
    plan, path = dump(make_random_plan(random)), folder / "run.run"
    program, wrong = load(plan), list[str]()
    world = Chance(random)
    inputs = {"topic": "winter"} if "topic" in program.plan.inputs else {}
    go_on(create(path, plan, program.digest), plan, world, Started("run", inputs=inputs))
    for number in range(random.randrange(1, 5)):
        wrong += find_wrong(plan, path, world.asked)
        history = read_journal(path)
        places = list_places(program, history.events)
        if not places:
            break
        place = random.choice(places)
        before = fold_events(program, history.events[: place.to])
        if random.random() < 0.4:
            count = place.to
            past = replace(
                history,
                events=history.events[:count],
                step_digests=history.step_digests[:count],
                times=history.times[:count],
            )
            path = folder / f"fork{number}.run"
            fork_journal(path, past).close()
            world = Chance(random, count_used(program, past))
        else:
            with closing(open_journal(path)) as journal:
                rewind(journal, Rewound(place.to))
            world = Chance(random, world.asked)
        if fold_events(program, read_journal(path).events) != before:
            wrong.append(f"{place} leads to another state")
        journal = open_journal(path)  # by another process, because the first was killed
        go_on(journal, plan, world, None)
    return [f"seed {seed}: {each}" for each in (*wrong, *find_wrong(plan, path, world.asked))]


def check(number: int) -> list[str]:
    """Check so many runs."""
    wrong = []
    for seed in range(number):
        with TemporaryDirectory() as folder:
            wrong += check_run(seed, Path(folder))
    return wrong


def test_a_run_that_is_taken_back_or_forked_replays_and_costs_what_was_answered() -> None:
    assert check(choose(35, whole=500)) == []


if __name__ == "__main__":
    found = check(int(sys.argv[1]))
    sys.stdout.write("\n".join((*found, f"{len(found)} wrong\n")))
