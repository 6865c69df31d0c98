"""Run a pipeline that is only a document on the machine, before a world that says what a row says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.plan.document import Plan
from stagec.plan.node import Outcome
from stagec.runtime.advance import advance
from stagec.runtime.exchange import Answered, Cancelled, Effect, Event, Started, read_key
from stagec.runtime.program import program_of
from stagec.runtime.state import State, StepResult, TraceEvent

HOOK = "rows.world:answer"
"""The callable that stands for whatever a row says that code of an author does."""


@value
class World:
    """What answers requests, after how long, and when somebody wants the run to end; times are numbers without unit."""

    answer: Callable[[Effect], Json]
    delay: Callable[[Effect], float] = lambda _: 0
    cancelled: float | None = None


@value
class Trace:
    """What has happened in a run, in order: requests and events."""

    happened: tuple[Effect | TraceEvent, ...]
    outcome: Outcome | None

    @property
    def trace(self) -> tuple[TraceEvent, ...]:
        """The events alone."""
        return tuple(each for each in self.happened if isinstance(each, TraceEvent))

    def facts(self, name: str, **wanted: Json) -> list[Mapping[str, Any]]:
        """Return the facts of the events of a name, of those that say what is wanted."""
        named = (each.facts for each in self.trace if each.name == name)
        return [facts for facts in named if all(facts.get(key) == each for key, each in wanted.items())]

    def effects(self, kind: type) -> list[Any]:
        """Return the requests of one kind."""
        return [each for each in self.happened if type(each) is kind]

    @property
    def error(self) -> str | None:
        """The failure with which the run has ended, as `Class/Code`."""
        told = [each["error"] for each in self.facts("WorkflowExit") if "error" in each]
        return f"{told[0]['class']}/{told[0]['code']}" if told else None


def run(plan: Plan, world: World, inputs: Mapping[str, Json] = NOTHING) -> Trace:
    """Return what happens in a run: requests are answered when they are due, those of one time in their order."""
    program, step = program_of(plan), StepResult(State())
    happened: list[Effect | TraceEvent] = []
    due: dict[str, tuple[float, Effect]] = {}
    event: Event | None = Started("row", inputs=inputs)
    now, cancelled = 0.0, world.cancelled
    while event is not None:
        step = advance(program, step.state, event)
        happened += [*step.trace, *step.effects]
        due = {key: each for key, each in due.items() if key in step.state.pending}
        due |= {each.key: (now + world.delay(each), each) for each in step.effects}
        event, now = _next(due, world, cancelled)
        cancelled = None if isinstance(event, Cancelled) else cancelled
    return Trace(tuple(happened), step.state.ended)


def _next(due: Mapping[str, tuple[float, Effect]], world: World, cancelled: float | None) -> tuple[Event | None, float]:
    """Return what happens next and when; nothing when nothing is under way."""
    if not due:
        return None, 0.0
    when, effect = min(due.values(), key=_time)
    if cancelled is not None and cancelled <= when:
        return Cancelled(), cancelled
    return Answered(effect.key, world.answer(effect)), when


def _time(each: tuple[float, Effect]) -> float:
    return each[0]


def stage_of(effect: Effect) -> str:
    """Return the stage that asks."""
    return read_key(effect.key).node


def find_error(origins: Iterable[str]) -> str | None:
    """Return the failure at run time that a finding stands for, nothing when it stands for none."""
    return next((each for each in origins if each.startswith("ExtensionHost/")), None)
