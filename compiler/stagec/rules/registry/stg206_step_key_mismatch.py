"""A step's key differs from its `stepId`.

## Why this matters
Transitions find steps by key, answers and logs name them by `stepId`. When the two differ, half of the tools look for
a step that is not there.

## How to fix
Make them equal. Where every transition uses one of the two names, the other is the mistake and `--fix` corrects it.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry, Step
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:step.key-eq-id", "SR-VALID-004"))
def check(registry: Registry) -> Iterator[Finding]:
    different = [step for step in registry.steps.values() if step.id is not None and step.id != step.key]
    mentioned = set(registry.mentions) if different else set()
    for step in different:
        message = f"step {quote(step.key)} calls itself {quote(step.id)}"
        related = (Related(step.at.key, "its key"),)
        other = registry.steps.get(step.id) if step.id is not None else None
        if other is None:
            yield Finding(step.at / "stepId", message, related, _fix(step, mentioned, registry))
        else:  # a copy is not finished, so whatever else is wrong with it follows from that
            found = (Related(step.at / "stepId", "its id"), Related(other.at.key, "the step of this id"))
            yield Finding(step.at, f"{message}, which is another step", found, _fix(step, mentioned, registry))


def _fix(step: Step, mentioned: set[str], registry: Registry) -> Fix | None:
    """Keep the name that others use; nothing is certain when they use both or neither."""
    if (step.key in mentioned) is (step.id in mentioned):
        return None
    if step.key in mentioned:
        return Fix(f"set stepId to {quote(step.key)}", (Edit(Change.REPLACE, step.at / "stepId", step.key),))
    if step.id in registry.steps:
        return None
    return Fix(f"rename the key to {quote(step.id)}", (Edit(Change.RENAME, step.at, step.id),))
