"""A field of the answer is in another place, and nothing in flight uses it.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__, "node {node} reads its answer otherwise", target_field="added removed changed", intent_field="changed"
)
