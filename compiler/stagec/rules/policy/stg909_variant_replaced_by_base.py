"""A repeat uses the prompt without adaptation.

## Why this matters
The documents of climpt let the prompt without adaptation take the place of a missing variant, and stagec does so.
climpt 1.14.0 looks for the variant alone: even for the adaptation `default` it wants `f_EDITION_default.md`, and the
repeat fails.

## How to fix
Write the prompt under the name that climpt looks for; it may be a copy.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.policy import rule


@rule(
    since="0.1",
    origin=("climpt-1.14:step.chain-prompt", "PR-C3L-004"),
    severity=Severity.WARNING,
    groups=("portability",),
)
def check(registry: Registry) -> Iterator[Finding]:
    for key, prompts in registry.prompts.of_repeats.items():
        lost = [each for each in prompts if each is not None and each.file == each.tried[-1] != each.tried[0]]
        if lost:
            step = registry.steps[key]
            chain = step.adaptation_chain
            at = step.at / "adaptationChain" if chain is None else chain[prompts.index(lost[0])].at
            message = f"climpt 1.14.0 wants {quote(lost[0].tried[0])} for a repeat of step {quote(key)}"
            yield Finding(at, f"{message}, and does not look for {quote(lost[0].tried[-1])}")
