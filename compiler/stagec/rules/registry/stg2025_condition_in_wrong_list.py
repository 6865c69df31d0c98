"""A condition names a validator of the other phase.

## Why this matters
Validators of the phase `preflight` are run before the model is asked, those of `postllm` after its answer. climpt 1.14
refuses a condition in the list of the other phase.

## How to fix
Move the condition to the other list, or change the phase of the validator if no other list names it.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.guards import LIST_OF_PHASE, find_slots
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:valid.phase-slot",))
def check(registry: Registry) -> Iterator[Finding]:
    for name, slots in find_slots(registry.validation_steps.values()).items():
        validator = registry.declared_validators.get(name)
        phase = validator.phase if validator is not None else None
        for slot in slots:
            if validator is not None and phase is not None and phase in LIST_OF_PHASE and phase != slot.phase:
                what = f"{quote(LIST_OF_PHASE[slot.phase])} names validator {quote(name)}"
                message = f"{what}, which has the phase {quote(phase)} and belongs in {quote(LIST_OF_PHASE[phase])}"
                yield Finding(slot.at, message, (Related(validator.at / "phase", "its phase"),))
