"""An answer that satisfies the schema may have no intent that the gate allows.

## Why this matters
The list that `intentSchemaRef` points at holds only where it applies to what `intentField` reads. Where the schema lets
something else stand there, or says it in ways that cannot be followed, the model may answer what the gate cannot read:
the run ends as failed, or the fallback intent decides.

## How to fix
Give the member that `intentField` reads the list itself, or a `$ref` to it, and require it at every level.
"""

from collections.abc import Iterator

from stagec.contract.choices import as_text
from stagec.contract.promise import Presence
from stagec.contract.schemas import Miss
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.agreement import disagreements
from stagec.frontends.registry.answers import Reading, names_another_member, readings
from stagec.frontends.registry.document import Registry, Step
from stagec.rules.registry import rule

_SPOKEN_OF = {Presence.IMPOSSIBLE, Presence.UNDECLARED, Presence.POSSIBLE}


@rule(since="0.1", origin=("steps-registry:beyond.field-ref-agree", "rulings:R13"), severity=Severity.WARNING)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        reading = next((each for each in readings(step) if each.member == "intentField"), None)
        why = _why(step, reading) if reading is not None and reading.promised.legible else None
        if reading is not None and why is not None and not (disagreements(step) or names_another_member(step)):
            message = f"step {quote(step.key)} may answer with no intent that it allows: {quote(reading.path)} {why}"
            yield Finding(reading.at, message, (Related(step.gate_at / "intentSchemaRef", "the list of intents"),))


def _why(step: Step, reading: Reading) -> str | None:
    if step.output is None or isinstance(step.output.choices, Miss) or reading.promised.presence in _SPOKEN_OF:
        return None
    values = step.output.values.get(reading.path)
    if not isinstance(values, tuple):
        return None if values is Miss.UNKNOWABLE else "can be something else than that list says"
    others = [as_text(each) for each in values if not _is_intent(step, each)]
    if others:
        return f"can be {listing(others, 'or')}"
    return "need not be there, as far as can be told" if reading.is_involved else None


def _is_intent(step: Step, given: object) -> bool:
    return isinstance(given, str) and step.gate is not None and given in step.gate.allowed
