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

from stagec.rules.registry import ALLOWED, Finding, Registry, Related, Step, quote, rule

_ALL = frozenset().union(*ALLOWED.values())


@rule(since="0.1", origin=("steps-registry:step.kind-intents", "steps-registry:flow.escalate-kind", "SR-VALID-001"))
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        if step.gate is None or step.kind is None:
            continue
        for intent, index in step.gate.allowed.items():
            if intent in _ALL and intent not in ALLOWED[step.kind]:
                able = " or ".join(kind.value for kind in ALLOWED if intent in ALLOWED[kind])
                message = (
                    f"{step.kind.value} step {quote(step.key)} may not answer {quote(intent)}: only {able} steps may"
                )
                yield Finding(step.allowed_at / index, message, (_related(step),))


def _related(step: Step) -> Related:
    if "stepKind" in step.body:
        return Related(step.at / "stepKind", "the step's kind")
    return Related(step.at / "c2", "the step's kind follows from its phase")
