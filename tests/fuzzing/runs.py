"""Runs of damaged plans that can still be loaded, in memory: by a damaged scenario, or by chance."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import mutate
from properties.random_world import World

from stagec.cli.commands.conformance import requests_to_json
from stagec.cli.running.inputs import read_scenario
from stagec.core.canonical import canonical, digest
from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.ir.plan import Plan, PlanError, dump
from stagec.ir.plan.facts import facts
from stagec.ir.plan.loader import load as load_plan
from stagec.ir.plan.loader import read_frame, write_frame
from stagec.runtime.drivers.history import load_event
from stagec.runtime.drivers.local import History, JournalError, RunSession, proceed, restore
from stagec.runtime.machine import Effect, Event, Program, Started, State, load
from stagec.runtime.machine.exchange import Hook
from stagec.runtime.machine.program import verify
from stagec.runtime.world.scenario import Scenario
from stagec.runtime.world.scripted_world import ScriptedWorld

VECTORS = sorted((Path(__file__).parents[1] / "plan_vectors").glob("*/plan.json"))
ANSWERS = 300
"""Answers after which a run is left alone: the limits of a damaged plan may be as high as numbers are."""

RUNS = 4
"""Runs of one plan."""


class EndlessError(Exception):
    """A run has had as many answers as it gets."""


@cache
def _plans() -> tuple[str, ...]:
    return tuple(read_frame(each.read_bytes())[1].decode() for each in VECTORS)


def make(random: Random) -> bytes:
    """Return a plan, a scenario and a number that decides what the scenario leaves open."""
    plan = json.loads(random.choice(_plans()))
    if random.random() < 0.2:
        plan = mutate.value(random, plan)
    for _ in range(random.choice([0, 1, 2, 5])):
        mutate.tame(random, plan)
    scenario = mutate.value(random, _scenario(random, plan)) if random.random() < 0.5 else {}
    return json.dumps({"plan": plan, "scenario": scenario, "chance": random.randrange(1 << 30)}).encode()


def _scenario(random: Random, plan: Any) -> Json:
    nodes = list(plan["nodes"]) if isinstance(plan, dict) and isinstance(plan.get("nodes"), dict) else []
    answer: Json = {"action": random.choice(["next", "repeat", "closing", "handoff", "jump", "abort"]), "found": 1}
    turns: Json = [{"say": "x", "calls": [{"tool": "Read", "arguments": {}}]}, {"complete": {"verdict": "ok"}}]
    return {
        "answers": {name: [answer, {"attempts": [answer, None]}] for name in nodes},
        "conversations": dict.fromkeys(nodes, turns),
        "tools": {"Read": ["text", {"error": "none"}]},
        "grants": ["Read"],
        "judge": [False, True],
        "confirm": True,
        "waits": "skip",
    }


def use(data: bytes, folder: Path) -> None:
    """Run what can be run of an input, and resume it from each event that it had: whatever is raised is a crash."""
    given = json.loads(data)
    try:
        program = load(_complete(given["plan"]))
    except (PlanError, ValueError):
        return
    scenario = _read(given["scenario"], folder, program.plan)
    for chance in range(RUNS):
        _play(program, _World(program, Random(given["chance"] + chance), scenario))


def _play(program: Program, world: _World) -> None:
    store = _Store()
    try:
        state = _run(program, world, store)
    except (JournalError, EndlessError):
        return
    history = History(b"", program.digest, tuple(store.events), tuple(store.digests))
    if restore(program, history) != state or state.ended is None:
        raise AssertionError("what is resumed is not what was run")


def _complete(given: Json) -> bytes:
    """Return the file of a plan with the contents and facts that it says, under the names that are theirs."""
    text = canonical(given).decode()
    contents = given.get("contents") if isinstance(given, dict) else None
    for name, content in contents.items() if isinstance(contents, dict) else ():
        if name and isinstance(content, str):
            text = text.replace(json.dumps(name), json.dumps(digest(content.encode())))
    plan = load_plan(write_frame(canonical(json.loads(text)))).plan
    data = dump(replace(plan, facts=facts(plan)))
    verify(data)
    return data


def _read(given: Json, folder: Path, plan: Plan) -> Scenario:
    file = folder / "scenario.json"
    file.write_text(json.dumps(given), encoding="utf-8")
    with redirect_stderr(io.StringIO()):
        try:
            return read_scenario(file, plan)
        except Failure:
            return Scenario()


def _run(program: Program, world: _World, store: _Store) -> State:
    plan = program.plan
    begun = world.chance.start()
    started = Started(begun["run"], begun.get("entry", plan.entry), begun["inputs"])
    return proceed(RunSession(program, store, world), State(), started)


class _World:
    """Answers by a scenario, and by chance what it leaves open."""

    def __init__(self, program: Program, random: Random, scenario: Scenario) -> None:
        self.chance = World(json.loads(read_frame(dump(program.plan))[1]), random)
        self._scripted = ScriptedWorld(scenario, _Nothing())
        self._left = ANSWERS

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        self._left -= 1
        if not self._left:
            raise EndlessError
        try:
            return self._scripted.answer(effect)
        except Failure:
            return self.chance.answer({"is": "hook"} if isinstance(effect, Hook) else requests_to_json([effect])[0])


class _Nothing:
    """What a scenario leaves to the world: no command of a damaged plan is ever run."""

    def answer(self, effect: Effect) -> Json:
        """Refuse to answer."""
        raise Failure(f"{effect.key} is left to chance")


class _Store:
    """Keeps the events of a run in memory, as a journal does on the disk."""

    waits = False

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.digests: list[str] = []

    @property
    def count(self) -> int:
        """How many events it holds."""
        return len(self.events)

    def append(self, _event: Event, body: str) -> None:
        """Keep an event."""
        self.events.append(load_event(body))

    def take_digest(self, step_digest: str) -> None:
        """Keep the digest of the last step."""
        self.digests.append(step_digest)

    def seal(self) -> None:
        """Keep that the run has ended."""
