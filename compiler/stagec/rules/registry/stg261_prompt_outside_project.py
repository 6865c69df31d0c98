"""The coordinates of a prompt lead out of the project.

## Why this matters
stagec opens nothing outside the project, and a prompt that lies there can be changed by whoever owns that place.

## How to fix
Write coordinates and path templates without `..`, and keep the prompts in the project.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:beyond.path-escape", "rulings:everywhere"), groups=("mandatory",))
def check(registry: Registry) -> Iterator[Finding]:
    told: set[str] = set()
    uses = [(registry.steps[key].at, each) for key, each in registry.prompts.of_steps.items() if each.is_outside]
    retries = (each for each in registry.prompts.of_retries if each.prompt.is_outside)
    uses += [(registry.at / "validationSteps" / each.step, each.prompt) for each in retries]
    for at, prompt in uses:
        if prompt.tried[-1] not in told:
            told.add(prompt.tried[-1])
            yield Finding(
                at.key, f"prompt {quote(prompt.tried[-1])} of {quote(at.pointer[-1])} lies outside the project"
            )
