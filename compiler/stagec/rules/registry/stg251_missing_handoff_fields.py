"""A step may hand off, but does not say what it hands over.

## Why this matters
`handoffFields` names the values that the next step receives. Without it the closure step starts with nothing of what
the steps before it found out.

## How to fix
Add `handoffFields` with the paths that the next step needs. An empty list says that it needs none.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.answers import has_member
from stagec.frontends.registry.document import ALLOWED, Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:doc.R-B15", "rulings:R11"), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if step.gate is None or "handoff" not in step.gate.allowed or has_member(step, "handoffFields"):
            continue
        if step.kind is None or "handoff" in ALLOWED[step.kind]:
            message = f"step {quote(step.key)} allows 'handoff', but has no handoffFields, so it hands over nothing"
            related = (Related(step.allowed_at / step.gate.allowed["handoff"], "the intent that needs them"),)
            yield Finding(step.gate_at / "handoffFields", message, related)
