"""Plays runs of processes: answers in order, and what followed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stagec.core.json import Json
from stagec.ir.plan import Plan
from stagec.runtime.machine import Answered, Cancelled, Effect, Event, Resumed, Started, State, StepResult, advance
from stagec.runtime.machine.exchange import Execute, Interrupt, Preserve, Publish, read_key
from stagec.runtime.machine.program import program_of

RUN = "r"


def succeed(effect: Execute, **more: Json) -> Mapping[str, Json]:
    """Return the answer of a process that has left everything."""
    outputs = {name: {"path": path, "sha256": "0" * 64, "sizeBytes": 1} for name, path in effect.outputs.items()}
    return {"exit": 0, "outputs": outputs, "seconds": 2, **more}


class Play:
    """A run that goes on with every answer; `open` names what it waits for."""

    def __init__(self, plan: Plan, run: str = RUN) -> None:
        self.program = program_of(plan)
        self.state = State()
        self.events: list[Event] = []
        self.steps: list[StepResult] = []
        self.tell(Started(run))

    def tell(self, event: Event) -> StepResult:
        step = advance(self.program, self.state, event)
        assert step == advance(self.program, self.state, event)
        self.events.append(event)
        self.steps.append(step)
        self.state = step.state
        return step

    @property
    def step(self) -> StepResult:
        return self.steps[-1]

    @property
    def open(self) -> list[str]:
        """What is asked: `execute S01_load_data`, and with which attempt if it is not the first."""
        return [_name(each) for each in self.state.pending.values()]

    def find(self, name: str) -> Effect:
        return next(each for each in self.state.pending.values() if _name(each) == name)

    def answer(self, name: str, given: Json) -> StepResult:
        return self.tell(Answered(self.find(name).key, given))

    def complete(self, node: str, attempt: str = "") -> None:
        """Let a stage succeed and be published."""
        effect = self.find(f"execute {node}{attempt}")
        assert isinstance(effect, Execute)
        self.tell(Answered(effect.key, succeed(effect)))
        self.answer(f"publish {node}{attempt}", {"checkpoint": f"ckpt-{node}"})

    def fail(self, node: str, *, valid: bool = False, **given: Json) -> None:
        """Let an attempt end otherwise than as a success, and be preserved."""
        self.answer(f"execute {node}", given or {"exit": 1})
        self.answer(f"preserve {node}", {"checkpoint": None, "valid": valid})

    @property
    def statuses(self) -> dict[str, str]:
        return {name: status.value for name, status in self.state.statuses.items()}

    def changes(self, node: str) -> list[str]:
        """Return the statuses that a stage has had since the beginning, by the trace."""
        found = [each.facts for step in self.steps for each in step.trace if each.name == "StageStatusChanged"]
        return [str(each["to"]) for each in found if each["stageId"] == node]


def _name(effect: Effect) -> str:
    key = read_key(effect.key)
    return f"{type(effect).__name__.lower()} {key.node}{f' {key.attempt}' if key.attempt > 1 else ''}"


__all__ = ["RUN", "Any", "Cancelled", "Interrupt", "Play", "Preserve", "Publish", "Resumed", "succeed"]
