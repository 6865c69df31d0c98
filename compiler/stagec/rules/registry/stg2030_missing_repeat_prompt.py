"""A repeat of a step has no prompt.

## Why this matters
The step has a prompt for its first execution, but neither one for the adaptation of a repeat nor one without
adaptation that could take its place. The repeat fails.

## How to fix
Write the prompt without adaptation, which serves all repeats that have none of their own, or the prompt of the
adaptation.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:step.chain-prompt", "PR-C3L-004"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        own, repeats = registry.prompts.of_steps.get(step.key), registry.prompts.of_repeats.get(step.key, ())
        lost = [index for index, each in enumerate(repeats) if each is not None and each.file is None]
        if own is None or own.file is None or not lost:
            continue  # a step without any prompt is told as that
        prompt, chain = repeats[lost[0]], step.adaptation_chain
        at = chain[lost[0]].at if chain else step.at / "adaptationChain"
        if prompt is not None and not prompt.is_outside:
            yield Finding(
                at, f"a repeat of step {quote(step.key)} has no prompt: there is neither {listing(prompt.tried, 'nor')}"
            )
