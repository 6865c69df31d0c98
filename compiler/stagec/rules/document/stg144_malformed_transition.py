"""A transition is neither simple nor conditional.

## Why this matters
A transition leads to one `target`, or it lets a `condition` choose among `targets`. With parts of both, or of
neither, it cannot be told where the intent leads.

## How to fix
Keep `target`, with `fallback` if wanted, or keep both `condition` and `targets`.
"""

from stagec.rules.document import shape_rule

RULE = shape_rule(
    __name__,
    since="0.1",
    origin=("steps-registry:reg.transition-shape", "steps-registry:beyond.conditional-domain", "rulings:R9"),
)
