"""A node is validated otherwise.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "node {node} is validated otherwise",
    validation_action="changed",
    conditions="changed",
    preflight="changed",
    every_outcome="changed",
)
