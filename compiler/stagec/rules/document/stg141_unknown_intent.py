"""A gate names an intent that does not exist.

## Why this matters
There are seven intents: `next`, `repeat`, `jump`, `handoff`, `closing`, `escalate` and `abort`. Words such as
`continue` are understood in answers, never in a registry.

## How to fix
Write the intent that the word stands for: `continue` and `pass` are `next`, `retry`, `wait` and `fail` are `repeat`,
`done` and `finished` are `closing`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:reg.gate-intent-enum",
        "steps-registry:step.kind-intents",
        "steps-registry:step.kind-fallback-intent",
    ),
)
