"""A `closing` transition leads to a step.

## Why this matters
`closing` asks for the end of the run: the validators of the closure step are run, and when they pass the run is
completed. It leads to no step, so a target is never honoured.

## How to fix
Set the target to `null`. To go on to another step, use the intent that fits the step's kind.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.registry.document import ALLOWED, Intent, Registry, Transition
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:doc.closing-null", "steps-registry:beyond.closing-null", "rulings:R4"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if not step.intents or Intent.CLOSING not in step.intents:
            continue
        if step.kind is not None and Intent.CLOSING not in ALLOWED[step.kind]:
            continue
        moves = [move for move in step.moves if _leads_on(move, registry)]
        if moves:
            message = f"step {quote(step.key)} goes to {quote(moves[0].target)} on 'closing', which ends the run"
            related = tuple(Related(step.place(move), "ends the run too") for move in moves[1:])
            yield Finding(step.place(moves[0]), f"{message}: the target must be null", related)


def _leads_on(move: Transition, registry: Registry) -> bool:
    """Tell whether this leads to an existing step under `closing`; of the others another rule speaks."""
    return (
        move.intent == Intent.CLOSING
        and not move.is_fallback
        and move.target is not None
        and registry.has_step(move.target)
    )
