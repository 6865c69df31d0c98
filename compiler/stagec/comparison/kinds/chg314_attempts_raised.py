"""The limit of attempts is higher.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "the limit of attempts of node {node} is {after}, and was {before}",
    attempts="changed",
    validation_attempts="changed",
)
