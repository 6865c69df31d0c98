"""A validation step retries without saying how often.

## Why this matters
Three failures end the run when `maxAttempts` is missing. Some checks of registries want it written.

## How to fix
Write `maxAttempts`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.policy import rule


@rule(since="0.1", origin=("steps-registry:doc.R-C6",), severity=Severity.WARNING, groups=("portability",))
def check(registry: Registry) -> Iterator[Finding]:
    given = registry.body.get("validationSteps")
    for key, step in given.items() if isinstance(given, dict) else ():
        action = step.get("onFailure") if isinstance(step, dict) else None
        if isinstance(action, dict) and action.get("action") == "retry" and "maxAttempts" not in action:
            at = registry.at / "validationSteps" / key / "onFailure" / "maxAttempts"
            yield Finding(at, f"validation step {quote(key)} retries, but does not say how often")
