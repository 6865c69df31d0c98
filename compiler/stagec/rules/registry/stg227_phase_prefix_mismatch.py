"""A step's name begins with another phase than its `c2` states.

## Why this matters
The name tells readers which phase a step belongs to, `c2` tells where its prompt lies. When they differ, mostly a
step was copied and the prompt of the other phase is sent.

## How to fix
Correct `c2`, or rename the step.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import PHASES, Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:prompt.c2-vs-id", "rulings:R21"), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        prefix = step.key.partition(".")[0]
        if prefix not in PHASES or not step.phase or step.phase == prefix or step.lacks_kind or step.surplus:
            continue
        message = f"step {quote(step.key)} has the phase {quote(step.phase)}, but its name says {quote(prefix)}"
        yield Finding(step.address.at / "c2", message, (Related(step.at.key, "its name"),))
