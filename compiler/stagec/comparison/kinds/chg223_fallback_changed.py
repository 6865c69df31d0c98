"""Another intent is the fallback.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "an answer of node {node} without an allowed intent counts as {after}",
    fallback="added removed changed",
    fail_fast="changed",
)
