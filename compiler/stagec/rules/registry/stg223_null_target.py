"""A transition leads nowhere although its intent does not end the run.

## Why this matters
`null` as a target ends a run, and only `closing` may do that. Under any other intent the run fails when the
transition is taken.

## How to fix
Name the step to go to. To end the run, go to a closure step and let it answer `closing`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import ALLOWED, INTENTS, Intent, Registry
from stagec.rules.registry import rule

_OTHERS = INTENTS - {Intent.CLOSING}
_ABLE = {kind: _OTHERS & allowed for kind, allowed in ALLOWED.items()}


@rule(
    since="0.1",
    origin=(
        "steps-registry:route.terminal-not-closing",
        "steps-registry:route.handoff-null",
        "steps-registry:route.escalate-invalid",
    ),
)
def check(registry: Registry) -> Iterator[Finding]:
    for step in registry.steps.values():
        able = _OTHERS if step.kind is None else _ABLE[step.kind]
        for move in step.moves:
            if move.target is None and move.intent in able:
                when = f" when the value is {quote(move.case)}" if move.case is not None else ""
                message = f"step {quote(step.key)} goes nowhere on {quote(move.intent)}{when}: only 'closing' may"
                yield Finding(step.place(move), message)
