"""The C3L configuration of an agent does not allow a coordinate that the registry uses.

## Why this matters
Prompts are found by `c2` and `c3`. The configuration `{agentId}-{c1}-user.yml` says by a pattern which values these can
have; other runners find no prompt at any other value.

## How to fix
Add the value to the pattern of `directiveType` (`c2`) or `layerType` (`c3`), or correct the coordinate.
"""

from collections.abc import Iterator

from stagec.core.json import text_in
from stagec.core.rule import Finding
from stagec.core.words import listing
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(
    since="0.1",
    origin=(
        "steps-registry:c3l.c2-pattern",
        "steps-registry:c3l.c3-pattern",
        "steps-registry:c3l.directive-pattern",
        "steps-registry:c3l.layer-pattern",
    ),
)
def check(registry: Registry) -> Iterator[Finding]:
    prompts = registry.prompts
    found = [registry.steps[key].address.body for key, prompt in prompts.of_steps.items() if prompt.file is not None]
    guards = registry.validation_steps
    found += [guards[each.step].address.body for each in prompts.of_retries if each.prompt.file is not None]
    for each in registry.coordinates:
        used = dict.fromkeys(text_in(body, each.coordinate) for body in found)  # other faults speak of the others
        lost = [name for name in used if name and each.values is not None and name not in each.values]
        if not each.is_there:
            yield Finding(each.at, f"the C3L configuration has no pattern for '{each.coordinate}'")
        elif lost:
            yield Finding(each.at, f"the C3L configuration does not allow {listing(lost)} for '{each.coordinate}'")
