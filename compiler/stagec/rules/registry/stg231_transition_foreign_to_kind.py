"""A step has a transition for an intent that steps of its kind may not answer.

## Why this matters
The kind of a step limits what it can decide. The gate does not allow the intent, so the transition is never taken,
and allowing it would not help: a runner refuses intents outside the set of the kind.

| kind | intents |
|---|---|
| work | next, repeat, jump, handoff |
| verification | next, repeat, jump, escalate |
| closure | closing, repeat |

## How to fix
Delete the transition, or give the step the kind that fits it.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import ALLOWED, INTENTS, Registry, Step
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:flow.intent-kind-transition", "steps-registry:flow.escalate-kind"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        for intent in _foreign(step):
            able = " or ".join(kind.value for kind in ALLOWED if intent in ALLOWED[kind])
            message = f"step {quote(step.key)} cannot take {quote(intent)}: only {able} steps may"
            related = (Related(step.kind_at, "the step's kind follows from this"),)
            yield Finding((step.at / "transitions" / intent).key, message, related)


def _foreign(step: Step) -> list[str]:
    """Return the intents that the transitions take against the step's kind; of listed ones another rule speaks."""
    if step.kind is None or not step.intents or step.intents <= ALLOWED[step.kind]:
        return []
    listed = step.gate.allowed.keys() if step.gate is not None else frozenset[str]()
    return sorted((step.intents & INTENTS) - ALLOWED[step.kind] - listed)
