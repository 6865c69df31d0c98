"""A step's name does not begin with a phase.

## Why this matters
By convention names are `initial.X`, `continuation.X`, `closure.X`, `verification.X` or `section.X`. Other names work,
but neither readers nor tools can tell the phase of a step from them, and `initial.X` goes on to `continuation.X` only
under these names.

## How to fix
Rename the step and everything that mentions it, or leave it: nothing is broken.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import PHASES, Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:doc.R-E1", "rulings:R21"), severity=Severity.NOTE)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if step.key.partition(".")[0] not in PHASES:
            example = f", as in '{step.phase}.{step.key}'" if step.phase in PHASES else ""
            yield Finding(step.at.key, f"the name of step {quote(step.key)} does not begin with a phase{example}")
