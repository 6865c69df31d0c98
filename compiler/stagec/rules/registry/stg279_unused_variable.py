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
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry, Step
from stagec.frontends.registry.supply import find_early, find_usages
from stagec.rules.registry import rule

_SHOWN, _NOT = 3, "does not read it"


@rule(since="0.1", origin=("steps-registry:uv.template-unused",), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    early = {each.at for each in find_early(registry)}
    unused: dict[str, list[tuple[Step, Place]]] = {}
    for usage in find_usages(registry):
        for name, at in usage.unused.items():
            if at not in early:
                unused.setdefault(name, []).append((usage.step, at))
    for name, ((step, at), *others) in unused.items():
        prompt = registry.prompts.of_steps[step.key].file or ""
        also = f" (and {len(others)} more)" if others else ""
        related = tuple(Related(other, "declared here too") for _, other in others[:_SHOWN])
        message = f"step {quote(step.key)} declares {quote(name)}, but its prompt {quote(prompt)} {_NOT}{also}"
        yield Finding(at, message, related)
