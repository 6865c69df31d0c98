"""A step's transitions do not take exactly the intents that its gate allows.

## Why this matters
An allowed intent without a transition is an answer that leads nowhere: the run fails when the model gives it. A
transition for an intent that is not allowed is never taken, so its author believes in a path that does not exist.

## How to fix
Give every allowed intent a transition, and delete the transitions of all others. `abort` needs none; `repeat` without
one means this step again; `jump` needs none when the answer names the target.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.agreement import Disagreement, Side, disagreements
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(
    since="0.1",
    origin=(
        "steps-registry:flow.intent-without-transition",
        "steps-registry:flow.dead-transition",
        "steps-registry:doc.R-B4",
        "steps-registry:route.handoff-missing",
        "steps-registry:route.escalate-missing",
    ),
)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        for each in disagreements(step):
            if each.odd is Side.TRANSITIONS:
                others = [at for side, at in each.places if side is not each.odd]
                related = tuple(Related(at, "the intents that can be answered") for at in others)
                yield Finding(each.at, f"the transitions of step {quote(step.key)} {_sentence(each)}", related)


def _sentence(each: Disagreement) -> str:
    parts = [f"lack {listing(each.missing)}, which the gate allows"] if each.missing else []
    if each.extra:
        parts.append(f"take {listing(each.extra)}, which the gate does not allow")
    return " and ".join(parts)
