"""Another intent is the fallback.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "an answer of node {node} without an allowed intent counts as {after}",
    fallback="added removed changed",
    fail_fast="changed",
)
