"""The schema's enum and the gate's `allowedIntents` name different intents.

## Why this matters
The schema says what the model may answer, the gate what is accepted. An intent that only the schema has ends the run
when it is answered; one that only the gate has can never be answered.

## How to fix
Make the enum, `allowedIntents` and the keys of `transitions` the same set. The diagnostic stands at the list that
differs from the other two, once for all steps that share it, and where an enum would be when the step's own schema
only inherits one by `allOf`. Where it is the schema of another step, which agrees with it, it stands at
`outputSchemaRef`. `abort` is allowed without being listed, and `repeat` without a transition means this step again.
"""

from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.agreement import Disagreement, Side, disagreements, find_sharing
from stagec.frontends.registry.document import Registry, Step
from stagec.rules.registry import rule

_NAMES = {Side.SCHEMA: "the schema enum", Side.GATE: "allowedIntents", Side.TRANSITIONS: "the transitions"}


@rule(
    since="0.1",
    origin=(
        "steps-registry:gate.enum-drift",
        "steps-registry:flow.intent-without-transition",
        "steps-registry:gate.ref-not-enum",
        "steps-registry:doc.R-D3",
        "steps-registry:doc.keys-eq-enum",
    ),
)
def check(registry: Registry) -> Iterator[Finding]:
    told: set[Place] = set()
    sharing = find_sharing(registry)
    for step in registry.steps.values():
        for each in disagreements(step):
            other = sharing.get(step.key) if each.odd is Side.SCHEMA else None
            at = each.at if other is None else step.at / "outputSchemaRef"
            if each.odd is not Side.TRANSITIONS and at not in told:
                told.add(at)
                others = [(side, at) for side, at in each.places if side is not each.odd or other is not None]
                related = tuple(Related(at, f"{_NAMES[side]} of {quote(step.key)}") for side, at in others)
                message = f"{_NAMES[each.odd]} of step {quote(step.key)} {_sentence(each)}{_doubt(other)}"
                causes = () if other is None else (other.at / "outputSchemaRef",)
                yield Finding(at, message, related, causes=causes)


def _doubt(other: Step | None) -> str:
    return "" if other is None else f"; is its schema that of step {quote(other.key)}?"


def _sentence(each: Disagreement) -> str:
    rest = [_NAMES[side] for side, _ in each.places if side is not each.odd]
    others, alone = " and ".join(rest), rest == ["the schema enum"]
    have, lack = ("has", "lacks") if alone else ("have", "lack")
    if each.missing and each.extra:
        return f"has {listing(each.extra)} where {others} {have} {listing(each.missing)}"
    if each.missing:
        return f"lacks {listing(each.missing)}, which {others} {have}"
    return f"has {listing(each.extra)}, which {others} {lack}"
