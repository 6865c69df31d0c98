"""The prompt of an adaptation that repeats use is missing.

## Why this matters
The first repeat in a row of a step uses the first adaptation of its chain, the second one the next. Where there is no
prompt `f_EDITION_ADAPTATION.md`, the prompt without adaptation takes its place, as the documents of climpt say. climpt
1.14.0 does not look for it: the repeat fails. The element `default` stands for the prompt without adaptation.

## How to fix
Write the prompt, or correct the name in the chain.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:step.chain-prompt", "PR-C3L-004"), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        for element, prompt in zip(
            step.adaptation_chain or (), registry.prompts.of_repeats.get(step.key, ()), strict=False
        ):
            if prompt is None or element.name == "default" or prompt.file != prompt.tried[-1]:
                continue
            message = f"there is no {quote(prompt.tried[0])} for a repeat of step {quote(step.key)}"
            yield Finding(element.at, f"{message}; {quote(prompt.tried[-1])} takes its place")
