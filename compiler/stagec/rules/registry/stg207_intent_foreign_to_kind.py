"""A gate allows an intent that steps of its kind may not answer.

## Why this matters
The kind of a step limits what it can decide: work steps may `handoff` but never end a run, only verification may
`escalate`, only closure may answer `closing`. A runner refuses an intent outside that set.

| kind | intents |
|---|---|
| work | next, repeat, jump, handoff |
| verification | next, repeat, jump, escalate |
| closure | closing, repeat |

`abort` is allowed for every kind.

## How to fix
Remove the intent from `allowedIntents`, the schema's enum and the transitions, or give the step the kind that fits it.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import ALLOWED, INTENTS, KIND_OF_PHASE, Registry, Step, StepKind
from stagec.rules.registry import rule


@rule(
    since="0.1",
    origin=(
        "steps-registry:step.kind-intents",
        "steps-registry:flow.escalate-kind",
        "SR-VALID-001",
        "steps-registry:route.intent-kind",
        "steps-registry:flow.closing-from-nonclosure",
    ),
)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if step.gate is None or step.kind is None or step.acts_as is not None:
            continue
        foreign = {each: at for each, at in step.gate.allowed.items() if each in INTENTS - ALLOWED[step.kind]}
        if foreign:
            yield _finding(step, step.kind, foreign)


def _finding(step: Step, kind: StepKind, foreign: dict[str, int]) -> Finding:
    """Blame the kind where it alone stands against the intents and the phase, else the intents."""
    meant = KIND_OF_PHASE.get(step.phase or "")
    able = [each.value for each in ALLOWED if foreign.keys() <= ALLOWED[each]]
    only = f": only {' or '.join(able)} steps may" if able else ""
    message = f"{kind.value} step {quote(step.key)} may not answer {listing(foreign)}{only}"
    first = step.allowed_at / next(iter(foreign.values())) if len(foreign) == 1 else step.allowed_at
    if step.states_kind and meant is not None and foreign.keys() <= ALLOWED[meant]:
        return Finding(step.kind_at, message, (Related(first, "the intents it allows"),))
    if step.states_kind:
        return Finding(first, message, (Related(step.kind_at, "the step's kind"),))
    return Finding(first, message, (Related(step.kind_at, "the step's kind follows from its phase"),))
