"""A conditional transition chooses by a value that its step does not hand over.

## Why this matters
`condition` names one of the values that the gate takes from an answer: the last part of a path in `handoffFields`.
Any other name is never there, so every answer takes the `default`, or none at all.

## How to fix
Correct the name, or add the path of the value to `handoffFields`.
"""

from collections.abc import Iterator

from stagec.core.guess import guess
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.answers import Conditional, conditionals, handoff_keys
from stagec.frontends.registry.document import Registry, Step
from stagec.frontends.registry.inputs import find_unhanded
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:beyond.conditional-domain", "rulings:R9"))
def check(registry: Registry) -> Iterator[Finding]:
    lost = [(step, each, keys) for step, each, keys in _conditions(registry) if each.condition not in keys]
    told = frozenset(find_unhanded(registry)) if lost else frozenset[tuple[str, str]]()
    for step, each, keys in lost:
        if (step.key, each.condition) not in told:
            has = f"hands over only {listing(keys)}" if keys else "hands over nothing"
            message = f"step {quote(step.key)} chooses by {quote(each.condition)} on {quote(each.intent)}, but {has}"
            related = (Related(step.gate_at / "handoffFields", "what it hands over"),) if keys else ()
            name, known = each.condition.rpartition(".")[2], NameIndex(keys)
            yield Finding(each.at / "condition", f"{message}{hint(name, known)}", related, guess(name, known))


def _conditions(registry: Registry) -> Iterator[tuple[Step, Conditional, tuple[str, ...]]]:
    """Yield every conditional transition with the names that its step hands over."""
    for step in registry.steps.values():
        keys = handoff_keys(step) if step.has_cases else None
        if keys is not None:
            yield from ((step, each, keys) for each in conditionals(step))
