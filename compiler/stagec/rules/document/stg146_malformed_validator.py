"""A validator lacks what it needs to judge, or is of a type that does not exist.

## Why this matters
A validator is a command with a condition for its success and a failure pattern for everything else. Without one of
them the work cannot be judged, and closing it proves nothing. In the format of climpt 1.14 `phase` says when the
command is run: `preflight` or `postllm`.

## How to fix
Give the validator `type`, which is `command`, `command`, `successWhen` and `failurePattern`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=(
        "steps-registry:reg.validator-required",
        "steps-registry:reg.validator-type-enum",
        "steps-registry:valid.command-missing",
        "steps-registry:valid.unknown-type",
        "climpt-1.14:valid.phase-enum",
    ),
)
