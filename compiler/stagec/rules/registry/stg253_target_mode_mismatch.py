"""A gate's `targetMode` needs something that the step does not have.

## Why this matters
`dynamic` says that the answer names the next step, `conditional` that a value of the answer chooses it. A reader, and
every tool that trusts the mode, looks for a choice that nobody makes.

## How to fix
Add what the mode needs, `targetField` for `dynamic` or a transition with `condition` and `targets` for `conditional`,
or choose `explicit`, the default: the transitions alone decide.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.agreement import can_jump
from stagec.frontends.registry.answers import has_member
from stagec.frontends.registry.document import Registry, Step
from stagec.rules.registry import rule


@rule(since="0.1", origin=("rulings:R26",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        lack = _lack(step)
        if lack is not None and step.gate is not None:
            message = f"the target mode of step {quote(step.key)} is {quote(step.gate.target_mode)}, but {lack}"
            yield Finding(step.gate_at / "targetMode", message)


def _lack(step: Step) -> str | None:
    mode = step.gate.target_mode if step.gate is not None else None
    if mode == "dynamic" and not has_member(step, "targetField") and not can_jump(step):
        return "it has no targetField"
    if mode == "conditional" and step.intents is not None and all(move.case is None for move in step.moves):
        return "none of its transitions has conditions"
    return None
