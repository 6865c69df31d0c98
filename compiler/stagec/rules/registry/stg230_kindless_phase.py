"""A step with a gate has a phase of its own, and nothing says what kind of step it is.

## Why this matters
The kind limits what a step may answer and where it may lead. It follows from the phases `initial`, `continuation`,
`verification` and `closure`; from any other `c2` nothing follows.

## How to fix
Add `stepKind`: `work`, `verification` or `closure`. Where `c2` is a misspelt phase, correct it.
"""

from collections.abc import Iterator

from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import PHASES, Registry
from stagec.rules.registry import rule

_KNOWN = NameIndex(PHASES)


@rule(since="0.1", origin=("rulings:R25",))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if step.lacks_kind:
            near = hint(step.phase or "", _KNOWN)
            message = f"step {quote(step.key)} has a gate and no stepKind, and none follows from {quote(step.phase)}"
            yield Finding(step.at / "stepKind", f"{message}{near}", (Related(step.address.at / "c2", "its phase"),))
