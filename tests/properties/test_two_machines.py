"""Random worlds: the machine and a runner written from the page alone stand at the same place after every event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from campaigns import choose
from plan_vectors.files import read
from plan_vectors.runner import Run
from properties.random_stages import make_stages
from properties.random_world import World
from runtime.traces import tell

from stagec.cli.commands.conformance import requests_to_json, state_to_json
from stagec.ir.plan import dump
from stagec.runtime.machine import State, load

PLANS = sorted((Path(__file__).parents[1] / "plan_vectors").glob("*/plan.json"))
RUNS, EVENTS = choose(50, whole=120), 200
CHUNKS, CHUNK = choose(2, whole=10), choose(60, whole=150)


def events(run: Run, world: World, random: Random) -> Iterator[Mapping[str, Any]]:
    """Yield what happens in a run by chance, until it has ended."""
    yield world.start()
    for _ in range(EVENTS):
        requests, state = [*run.requests()], run.state()
        if "statuses" in state and random.random() < (0.5 if state["ended"] is not None else 0.01):
            yield world.resume(state["statuses"])
            continue
        if state["ended"] is not None or not requests:
            return
        if random.random() < (0.02 if "statuses" in state else 0.003):
            yield {"is": "cancel"}
        else:
            request = random.choice(requests)
            yield {"is": "answer", "to": request["key"], "answer": world.answer(request)}


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.parent.name)
def test_both_machines_agree_after_every_event(path: Path) -> None:
    for seed in range(RUNS):
        agree(path.read_bytes(), seed)


def agree(data: bytes, seed: int) -> None:
    """Let both machines run the same plan in the same world."""
    program, (_, plan), random = load(data), read(data), Random(seed)  # noqa: S311
    run, state, keys = Run(plan), State(), set[str]()
    for event in events(run, World(plan, random), random):
        run.tell(event)
        step = tell(program, state, event)
        state, new = step.state, [each for each in run.requests() if each["key"] not in keys]
        keys |= {each["key"] for each in new}
        assert state_to_json(program, state) == run.state(), (seed, event)
        assert requests_to_json(step.effects) == new, (seed, event)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_both_machines_agree_about_random_schedules(chunk: int) -> None:
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        agree(dump(make_stages(Random(seed))), seed)  # noqa: S311
