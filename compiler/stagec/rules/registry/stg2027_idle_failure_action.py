"""`onFailure` of a validation step has nothing to act on.

## Why this matters
`onFailure` says what follows when a condition of `postLLMConditions` does not hold. A condition of
`preflightConditions` that does not hold always ends the run. Without conditions after the answer the member means
nothing.

## How to fix
Delete `onFailure`, or move the conditions that may be tried again to `postLLMConditions`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.generation import Generation
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:valid.preflight-idle-action",), severity=Severity.NOTE)
def check(registry: Registry) -> Iterator[Finding]:
    for guard in registry.validation_steps.values() if registry.generation is not Generation.V1_13 else ():
        if "onFailure" in guard.body and guard.preflight and guard.body.get("postLLMConditions") == []:
            message = (
                f"'onFailure' of validation step {quote(guard.key)} means nothing: it has only preflight conditions"
            )
            yield Finding((guard.at / "onFailure").key, message)
