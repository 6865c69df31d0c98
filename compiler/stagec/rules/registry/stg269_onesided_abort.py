"""Only one of the schema's enum and the gate's `allowedIntents` lists `abort`.

## Why this matters
`abort` is always allowed and ends the run as failed, so nothing breaks. But a model answers only what the schema's
enum lists: with `abort` in the gate alone it can never give up, and with `abort` in the enum alone a reader of the
gate does not learn that it can.

## How to fix
List `abort` in both, or in neither.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.agreement import list_offered_by
from stagec.frontends.registry.document import Intent, Registry
from stagec.frontends.registry.generation import Generation
from stagec.rules.registry import rule


@rule(
    since="0.1",
    origin=("steps-registry:gate.enum-drift", "steps-registry:step.kind-intents", "rulings:R1"),
    severity=Severity.NOTE,
)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values() if registry.generation is Generation.V1_13 else ():
        offered, gate = list_offered_by(step), step.gate
        if offered is None or gate is None or (Intent.ABORT in offered) is (Intent.ABORT in gate.allowed):
            continue
        message = f"step {quote(step.key)} lists 'abort' only"
        if Intent.ABORT in offered:
            related = (Related(step.allowed_at, "the intents it allows"),)
            yield Finding(offered[Intent.ABORT], f"{message} in the schema enum", related)
        else:
            yield Finding(step.allowed_at / gate.allowed[Intent.ABORT], f"{message} in allowedIntents")
