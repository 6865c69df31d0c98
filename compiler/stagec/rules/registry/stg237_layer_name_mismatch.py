"""The second part of a step's name is another than its `c3`.

## Why this matters
By convention a step is called `{c2}.{c3}`, and `c3` tells where its prompt lies. When they differ, mostly a step was
copied, and the prompt of the other one is sent. Other runners warn of it as well.

## How to fix
Correct `c3`, or rename the step and everything that mentions it. The name of a section is free.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import PHASES, Registry, Step
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:prompt.c3-vs-id",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    prompts = registry.prompts.of_steps
    for step in registry.steps.values():
        prompt, layer = prompts.get(step.key), step.address.c3
        if not layer or layer in _name_layers(step):
            continue
        if prompt is None or prompt.file is not None or prompt.is_outside:  # one that is missing is told there
            message = f"step {quote(step.key)} has the layer {quote(layer)}, but its name says"
            told = f"{message} {quote(step.key.split('.')[1])}"
            yield Finding(step.address.at / "c3", told, (Related(step.at.key, "its name"),))


def _name_layers(step: Step) -> tuple[object, ...]:
    """Return the layers that a step may have by its key or its id; its own where these follow no convention."""
    parts = step.key.split(".")
    if step.is_section or parts[0] not in PHASES or step.phase != parts[0] or not parts[1:2]:
        return (step.address.c3,)
    return parts[1], *(step.id or "").split(".")[1:2]
