"""A validator that a condition names has no phase.

## Why this matters
Since climpt 1.14 a validator says when it is run: `preflight` before the model is asked, `postllm` after its answer.
Without a phase the check of the agent fails.

## How to fix
Write the phase of the list that names the validator: `preflight` for `preflightConditions`, `postllm` for
`postLLMConditions`. A validator that both lists name has to be declared twice, once for each phase.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.guards import find_slots
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:valid.phase-missing",))
def check(registry: Registry) -> Iterator[Finding]:
    named = find_slots(registry.validation_steps.values())
    for name, slots in named.items():
        validator = registry.declared_validators.get(name)
        if validator is None or "phase" in validator.body:
            continue
        at, phases = validator.at / "phase", {slot.phase for slot in slots}
        only = next(iter(phases)) if len(phases) == 1 else None
        fix = Fix(f"write phase {quote(only)}", (Edit(Change.INSERT, at, only),)) if only is not None else None
        related = tuple(Related(slot.at, "named here") for slot in slots[:_SHOWN])
        yield Finding(at, f"validator {quote(name)} has no phase, but conditions name it", related, fix)


_SHOWN = 3
