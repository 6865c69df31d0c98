"""A validation step of a registry of climpt 1.14 has `validationConditions`.

## Why this matters
climpt 1.14 has two lists in its place: `preflightConditions` are judged before the model is asked, and a run ends
when one does not hold; `postLLMConditions` are judged after its answer, and `onFailure` says what follows. The old
list is refused.

## How to fix
Move each condition into one of the lists, and write the phase of its validator. In 1.13 all conditions were judged
after the answer. Write both lists, even if one of them is empty.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.generation import CONDITION_LISTS, LEGACY_CONDITIONS, Generation
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:valid.legacy-conditions",))
def check(registry: Registry) -> Iterator[Finding]:
    for guard in registry.validation_steps.values() if registry.generation is not Generation.V1_13 else ():
        if LEGACY_CONDITIONS in guard.body:
            at = (guard.at / LEGACY_CONDITIONS).key
            message = f"validation step {quote(guard.key)} has '{LEGACY_CONDITIONS}', which 1.14 refuses"
            yield Finding(at, f"{message}: it wants {listing(CONDITION_LISTS)}")
