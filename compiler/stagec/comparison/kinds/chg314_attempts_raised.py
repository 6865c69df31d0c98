"""The limit of attempts is higher.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__, "node {node} has {after} attempts, and had {before}", attempts="changed", validation_attempts="changed"
)
