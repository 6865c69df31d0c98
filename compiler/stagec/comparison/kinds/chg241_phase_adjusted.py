"""What is written about an issue, or the wait between phases, is another one.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "what is written about an issue, or the wait between phases, is another one",
    comment="added removed changed",
    closing="changed",
    pause="changed",
    labels="added removed changed",
    ordering_labels="changed",
)
