"""A field of the answer stands elsewhere, and nothing in flight uses it.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__, "node {node} reads its answer otherwise", target_field="added removed changed", intent_field="changed"
)
