"""How what came of a step becomes an outcome."""

from __future__ import annotations

from stagec.frontends.registry import document
from stagec.frontends.registry.document import Step
from stagec.frontends.registry.programs import program
from stagec.plan.gate import ExitGate, Gate, IntentGate, JudgeGate
from stagec.plan.template import Path

_EXIT, _JUDGE = ExitGate(), JudgeGate()


class Gates:
    """The gates of a registry: large ones repeat a few thousands of times."""

    def __init__(self) -> None:
        self._known: dict[int, IntentGate] = {}

    def gate(self, step: Step) -> Gate:
        """Return the gate of a step: its own, the exit status of its program, or the agent's judge."""
        if program(step) is not None:
            return _EXIT
        if step.gate is None:
            return _JUDGE
        if id(step.gate) not in self._known:  # the gates of a registry live as long as it
            self._known[id(step.gate)] = _intent_gate(step.gate)
        return self._known[id(step.gate)]


def _intent_gate(gate: document.Gate) -> IntentGate:
    return IntentGate(
        field=_path(gate.field or ""),
        intents=tuple(gate.allowed),
        fail_fast=gate.fail_fast,
        fallback=None if gate.fail_fast else gate.fallback,
        target=_path(gate.target_field) if gate.target_field else None,
        handoff=tuple(_path(each) for each in gate.handoff or () if each),
    )


def _path(dotted: str) -> Path:
    """Return the path that a gate means; digits may also name the member of an object, so they stay text."""
    return tuple(dotted.split(".")) if dotted else ()
