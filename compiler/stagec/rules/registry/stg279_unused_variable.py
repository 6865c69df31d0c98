"""A step declares a variable that its prompt does not read.

## Why this matters
A step cannot start without a text for each of its `uvVariables`. One that the prompt does not read is demanded for
nothing, or the prompt has another name for it, and the model is not told what it should be.

## How to fix
Write `{uv-name}` where the prompt should have it, or take the name out of `uvVariables`. `{name}` and `{{name}}` are
no variables: they stay as they are written.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.supply import find_early, find_usages
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:uv.template-unused",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    early = {each.at for each in find_early(registry)}
    for usage in find_usages(registry):
        prompt = registry.prompts.of_steps[usage.step.key].file or ""
        for name, at in usage.unused.items():
            if at not in early:
                message = (
                    f"step {quote(usage.step.key)} declares {quote(name)}, but its prompt {quote(prompt)} does not"
                )
                yield Finding(at, f"{message} read it")
