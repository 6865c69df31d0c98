"""A transition stands under a name that is no intent.

## Why this matters
There are seven intents: `next`, `repeat`, `jump`, `handoff`, `closing`, `escalate` and `abort`. A transition under
any other name is never taken. `fallback` is reserved: it is a member of a transition, beside its target.

## How to fix
Correct the spelling, or delete the transition. Where an allowed intent has no transition yet, the misspelt one is
most likely it, and `--fix` renames it.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import INTENTS, Registry, Step
from stagec.rules.registry import rule

_KNOWN = NameIndex(sorted(INTENTS))
_RESERVED = "fallback"


@rule(since="0.1", origin=("steps-registry:flow.unknown-intent-key", "steps-registry:doc.R-B12", "rulings:R2"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        for key in _list_unknown(step, registry.intents):
            what = "belongs inside a transition" if key == _RESERVED else f"is no intent{hint(key, _KNOWN)}"
            message = f"step {quote(step.key)} has a transition for {quote(key)}, which {what}"
            yield Finding((step.at / "transitions" / key).key, message, (), _fix(step, key))


def _list_unknown(step: Step, known: frozenset[str]) -> list[str]:
    """Return the keys of the transitions that are no intents; of those that the gate lists another rule speaks."""
    if not step.intents or step.intents <= known:
        return []
    listed = step.gate.allowed.keys() if step.gate is not None else frozenset[str]()
    return sorted(step.intents - known - listed)


def _fix(step: Step, key: str) -> Fix | None:
    near = _KNOWN.nearest(key) if key != _RESERVED else None
    if near is None or step.gate is None or near not in step.gate.allowed or near in (step.intents or ()):
        return None
    return Fix(f"rename it to {quote(near)}", (Edit(Change.RENAME, step.at / "transitions" / key, near),))
