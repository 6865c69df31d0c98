"""A step may jump, but its gate does not say where the target is read.

## Why this matters
With `jump` the answer itself names the next step. Without `targetField` nobody reads that name, so a jump leads
nowhere, or always to the one step of `transitions.jump`, whatever the model answered.

## How to fix
Add `targetField` with the path of the target in the answer, and name the steps it can be in the output schema's enum.
Where the step never chooses its own target, remove `jump` from `allowedIntents`, the enum and the transitions.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.agreement import can_jump
from stagec.frontends.registry.answers import has_member
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:doc.R-B14", "rulings:R10"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if step.gate is not None and can_jump(step) and not has_member(step, "targetField"):
            message = f"step {quote(step.key)} allows 'jump', but its gate has no 'targetField' to read the target from"
            related = (Related(step.allowed_at / step.gate.allowed["jump"], "the intent that needs it"),)
            yield Finding(step.gate_at / "targetField", message, related)
