"""A fallback key is written with dots.

## Why this matters
Built-in prompts are named with underscores. A key with dots, mostly the id of the step, names none of them, and the
step has no prompt when its own is missing.

## How to fix
Join the words with underscores: `initial_issue` instead of `initial.issue`.
"""

from collections.abc import Iterator

from stagec.core.guess import Guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.builtin_prompts import FALLBACK_KEYS
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule

_KNOWN = NameIndex(sorted(FALLBACK_KEYS))


@rule(since="0.1", origin=("rulings:R19",))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        key = step.body.get("fallbackKey")
        if isinstance(key, str) and "." in key:
            near, meant = hint(key.replace(".", "_"), _KNOWN), _KNOWN.guess(key.replace(".", "_"))
            fix = Guess(key, meant) if meant is not None else None
            message = f"the fallback key {quote(key)} of step {quote(step.key)} has dots, and no built-in prompt has"
            yield Finding(step.at / "fallbackKey", f"{message}{near}", fix=fix)
