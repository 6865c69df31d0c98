"""Worlds that answer with anything: each value is written, replayed and judged, and no run ends for it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from campaigns import choose
from playable import asking, command, judged, stages, steps

from stagec.core.json import Json
from stagec.core.json_reader import UnreadableError, parse_json
from stagec.ir.plan import Plan
from stagec.runtime.drivers.history import History, dump_event, load_event
from stagec.runtime.drivers.local.drive import RunSession, proceed
from stagec.runtime.drivers.replay import digest_step, replay_twice
from stagec.runtime.machine import Effect, Event, Started, State, StepResult
from stagec.runtime.machine.exchange import Ask, Confirm, Grant, Judge, Turn
from stagec.runtime.machine.program import program_of


def nest(depth: int) -> Any:
    given: Any = 1
    for _ in range(depth):
        given = [given]
    return given


_KINDS: tuple[Callable[[Random], Any], ...] = (
    lambda _: float("nan"),
    lambda _: float("-inf"),
    lambda random: 10 ** random.randrange(400),
    lambda random: random.choice(("", "x", "\ud800", "a\udfffb", "é", "\0", "next", "closing", "submit", "Read")),
    lambda random: random.choice((None, True, 0, -0.0, 1.5, 2**63)),
    lambda random: nest(random.choice((3, 125, 126, 127, 128, 129, 2000))),
    lambda _: {1, 2},
    lambda random: random.randbytes(3),
    lambda random: {random.choice((1, None, (1,), "a", "\ud800", b"a")): 1, "1": 2},
    lambda _: object(),
    lambda random: _parse(random.choice(('{"a":1,"a":2}', '{"action":"next","action":"next"}', "[1e999]", "[NaN"))),
)


def _parse(text: str) -> Any:
    try:
        return parse_json(text)
    except UnreadableError as error:
        return str(error)


class Garbage:
    """A world that answers with anything, sometimes in the form that is wanted; `values` counts its answers."""

    def __init__(self, random: Random) -> None:
        self.random, self.values = random, 0

    def answer(self, effect: Effect) -> Any:
        self.values += 1
        whole = self.random.random()
        return self.make() if whole < 0.1 else self._fit(effect, whole)

    def make(self) -> Any:
        """Return a value of any kind, perhaps inside others."""
        made = self.random.choice(_KINDS)(self.random)
        while self.random.random() < 0.3:
            made = self.random.choice(([made], {"action": made}, {"words": made, "x": [made]}, (made, made)))
        return made

    def _fit(self, effect: Effect, chance: float) -> Any:
        """Return an answer in which most members have the right form."""
        good = chance < 0.5
        match effect:
            case Ask():
                return {
                    "answer": {"action": self.random.choice(("next", "closing"))} if good else self.make(),
                    "text": self.make(),
                }
            case Turn():
                done = {"id": "s", "tool": "submit", "arguments": {"words": 1} if good else self.make()}
                other = {"id": self.make(), "tool": self.make(), "arguments": self.make(), "unreadable": self.make()}
                return {
                    "text": self.make(),
                    "calls": [done] if good else [done, other, self.make()][self.random.randrange(3) :],
                }
            case Grant() | Confirm() | Judge():
                return {"granted": good or self.make(), "yes": good or self.make(), "done": good or self.make()}
            case _:
                return {
                    "value": self.make(),
                    "exit": 0 if good else self.make(),
                    "stdout": self.make(),
                    "error": self.make(),
                }


class Events:
    """Keeps what a journal would, in memory."""

    def __init__(self) -> None:
        self.count, self.waits, self.bodies = 0, False, list[str]()

    def append(self, _event: Event, body: str, /) -> None:
        self.count += 1
        self.bodies.append(body)

    def take_digest(self, _step_digest: str, /) -> None: ...

    def seal(self) -> None: ...


PLANS: tuple[tuple[Plan, dict[str, Json]], ...] = (
    (steps(limit=60), {"topic": "x"}),
    (stages(), {}),
    (asking(), {"busy": True}),
    (command("true"), {}),
    (judged(), {}),
)


@pytest.mark.parametrize("seed", range(choose(30, full=50, whole=300)))
def test_no_run_ends_for_any_value_but_by_an_edge_or_a_declared_end(seed: int) -> None:
    """All events can be written and replayed; at whole size, worlds give more than 100,000 values."""
    random = Random(seed)  # noqa: S311
    values = 0
    while values < choose(20, whole=350):
        plan, inputs = random.choice(PLANS)
        program, store, world = program_of(plan), Events(), Garbage(random)
        digests: list[str] = []

        def observe(_event: Event, step: StepResult, digests: list[str] = digests) -> None:
            digests.append(digest_step(len(digests), step))

        started = Started("r", None, inputs)
        state = proceed(RunSession(program, store, world, observe), State(), started)
        assert state.ended is not None
        events = tuple(map(load_event, store.bodies))
        assert list(map(load_event, map(dump_event, events))) == list(events)
        history = History(b"", "", events, tuple(digests))
        assert replay_twice(program, program_of(plan), history) == state
        values += world.values
