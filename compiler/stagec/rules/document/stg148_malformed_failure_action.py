"""What happens after a failed validation is not said, or cannot be done.

## Why this matters
`action` is `retry`, `abort` or `skip` (without `abort` in the format of climpt 1.14), and `maxAttempts` bounds the
failures. Without a known action, or with a bound below one, the run neither goes on nor ends as meant.

## How to fix
Write one of the actions, and a whole number of at least 1.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__, since="0.1", origin=("steps-registry:reg.onfailure-action", "steps-registry:reg.onfailure-maxattempts")
)
