"""A first step of a flow hands off.

## Why this matters
The documents allow it. Some runners warn of it: they expect an initial step to go on to its continuation first.

## How to fix
Let the step go on with `next`, and hand off from its continuation.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.policy import rule


@rule(since="0.1", origin=("steps-registry:flow.initial-handoff",), severity=Severity.WARNING, groups=("portability",))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        listed = step.gate is not None and "handoff" in step.gate.allowed
        if step.phase == "initial" and (listed or "handoff" in (step.intents or ())):
            yield Finding(step.at / "transitions" / "handoff", f"initial step {quote(step.key)} takes 'handoff'")
