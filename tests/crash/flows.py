"""The runs that are crashed: their plans, worlds that answer by key, and what comes of each when it is left alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import phased
import playable

from stagec.core.json import Json
from stagec.ir.plan import dump
from stagec.runtime.drivers.local import RunSession, World, create, proceed, read_journal
from stagec.runtime.machine import Effect, Event, Program, Started, State, StepResult, load
from stagec.runtime.machine.exchange import Ask, Run, Shell, read_agent_run, read_key
from stagec.runtime.world.local_world import LocalWorld, Permissions

VECTORS = Path(__file__).parents[1] / "plan_vectors"
CHECK = 'sleep 0.01; case "$STAGEC_IDEMPOTENCY_KEY" in *close#[12]/*) exit 1;; esac; echo checked'
"""A validator that is really run; it fails when a request of the first two visits of `close` is answered."""
LOOK = 'test "$STAGEC_RUN_ID" = run && case "$STAGEC_IDEMPOTENCY_KEY" in *#1/*) exit 1;; esac'
"""A program that fails when it is run for the first visit."""


class Flow(NamedTuple):
    """A plan, and how and in which world it is run."""

    plan: bytes
    started: Started
    world: World


class Told:
    """A world that answers what a trace of the plan format says under the key of a request."""

    def __init__(self, trace: Path) -> None:
        steps = [step["event"] for step in json.loads(trace.read_text(encoding="utf-8"))]
        self.started = Started(steps[0]["run"], steps[0].get("entry"), steps[0].get("inputs", {}))
        self._answers = {each["to"]: each["answer"] for each in steps[1:]}

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        found: Json = self._answers[effect.key]
        return found


class Writing:
    """A world for `playable.steps` that runs programs: drafts over and over, closes until the validator is content."""

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        if isinstance(effect, Shell | Run):
            return LocalWorld(Permissions()).answer(effect)
        assert isinstance(effect, Ask)
        key = read_key(effect.key)
        if key.node == "close":
            return {"answer": {"action": "repeat" if key.visit < 3 and key.attempt > 1 else "closing"}}
        return {"answer": {"action": "repeat" if key.visit % 4 else "next"}}


def _writing() -> Flow:
    return Flow(dump(playable.steps(CHECK)), Started("run", None, {"topic": "winter"}), Writing())


def _looking() -> Flow:
    return Flow(dump(playable.command("sh", "-c", LOOK)), Started("run"), Writing())


def _drafting() -> Flow:
    return Flow(dump(playable.steps()), Started("run", None, {"topic": "winter"}), playable.Answers())


def _reviewing(name: str = "retry") -> Flow:
    world = Told(VECTORS / "code-review" / f"{name}.trace.json")
    return Flow((VECTORS / "code-review" / "plan.json").read_bytes(), world.started, world)


class Solving:
    """A world for `phased.issue_flow`: agents are run; what is built is rejected twice, and approved then."""

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        if not isinstance(effect, Ask):
            return {}
        key = read_key(effect.key)
        if key.node == "work":
            return {"answer": {"do": "next" if key.visit > 1 else "repeat"}}
        named = read_agent_run(key.run)
        verdict = "approved" if named is not None and named.number > 2 else "rejected"
        return {"answer": {"do": "closing", "summary": "so it is", "verdict": verdict}}


def _solving() -> Flow:
    return Flow(dump(phased.issue_flow(9)), Started("run", "kind:build", {"issue": 7}), Solving())


FLOWS: Mapping[str, Callable[[], Flow]] = {
    "solving": _solving,
    "writing": _writing,
    "looking": _looking,
    "drafting": _drafting,
    "reviewing": _reviewing,
    "reworking": lambda: _reviewing("rework"),
}
"""Agents in phases; steps with validators that are run, one program, and nothing; stages with forks and retries."""


class Undisturbed(NamedTuple):
    """What comes of a run: its events, the step digest of each, the digest of the state after each, the last state."""

    events: tuple[Event, ...]
    step_digests: tuple[str, ...]
    digests: tuple[str, ...]
    state: State


@cache
def flow(name: str) -> Flow:
    """Return a flow by its name."""
    return FLOWS[name]()


@cache
def program(name: str) -> Program:
    """Return the program of a flow."""
    return load(flow(name).plan)


def undisturbed(name: str, path: Path) -> Undisturbed:
    """Run a flow to its end, with a journal at a path."""
    given, digests = flow(name), list[str]()

    def observe(_event: Event, step: StepResult) -> None:
        digests.append(digest(step.state))

    with closing(create(path, given.plan, program(name).digest)) as journal:
        state = proceed(RunSession(program(name), journal, given.world, observe), State(), given.started)
    history = read_journal(path)
    return Undisturbed(history.events, history.step_digests, tuple(digests), state)


def digest(state: Any) -> str:
    """Return a short text that is another one for every other state."""
    return sha256(ascii(state).encode()).hexdigest()
