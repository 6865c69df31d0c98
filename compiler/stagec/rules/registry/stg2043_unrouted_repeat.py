"""A gate allows `repeat`, and no transition is written for it.

## Why this matters
A step repeats itself without a transition, and the check of an agent wants none. The start of climpt 1.14 does want
one, and refuses the registry.

## How to fix
Write the transition: `"repeat": {"target": "THE STEP ITSELF"}`. `--fix` does so.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Intent, Registry
from stagec.frontends.registry.generation import Generation
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:flow.intent-without-transition", "S3"), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values() if registry.generation is not Generation.V1_13 else ():
        allowed = step.gate.allowed if step.gate is not None else {}
        if Intent.REPEAT in allowed and step.intents is not None and Intent.REPEAT not in step.intents:
            at = step.allowed_at / allowed[Intent.REPEAT]
            edit = Edit(Change.INSERT, step.at / "transitions" / "repeat", {"target": step.key})
            fix = Fix(f"lead 'repeat' to {quote(step.key)}", (edit,))
            yield Finding(
                at, f"step {quote(step.key)} allows 'repeat' without a transition, which 1.14 refuses", fix=fix
            )
