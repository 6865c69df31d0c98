"""A fallback key names no built-in prompt that is documented.

## Why this matters
A runner may know it all the same, so nothing is surely wrong. When it does not, the step has no prompt once its own
is missing.

## How to fix
Write a documented key such as `initial_issue` or `issue_closure_default`, or delete it when the step has a prompt of
its own.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.builtin_prompts import FALLBACK_KEYS
from stagec.frontends.registry.document import Registry, Step
from stagec.rules.registry import rule

_SHOWN = 3


@rule(since="0.1", origin=("rulings:R19",), severity=Severity.NOTE)
def check(registry: Registry) -> Iterator[Finding]:
    found: dict[str, list[Step]] = {}
    for step in registry.steps.values():
        key = step.body.get("fallbackKey")
        if isinstance(key, str) and "." not in key and key not in FALLBACK_KEYS:
            found.setdefault(key, []).append(step)
    if not found:
        return
    known = NameIndex(sorted(FALLBACK_KEYS))
    (first, (step, *_)), *others = found.items()
    verb = "is" if not others else "are"
    message = f"{listing(found)} {verb} no documented built-in prompt{'s' if others else ''}"
    near = hint(first, known) if not others else ""
    related = tuple(
        Related(also.at / "fallbackKey", f"{quote(key)} too{hint(key, known)}") for key, (also, *_) in others[:_SHOWN]
    )
    yield Finding(step.at / "fallbackKey", f"{message}{near}", related, guess(first, known) if near else None)
