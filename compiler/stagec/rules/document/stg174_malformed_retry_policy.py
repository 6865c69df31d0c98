"""The retry policy of a stage is not written as one.

## Why this matters
`maxAttempts` says how often the work may be tried, the first attempt included, and `backoff` how long to wait in
between. Without both it cannot be told when to give up.

## How to fix
Write both, such as `{maxAttempts: 2, backoff: none}`. The number is whole and at least 1.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__, since="0.1", origin=("stage-definitions:retry-policy-shape", "stage-definitions:retry-policy-backoff")
)
