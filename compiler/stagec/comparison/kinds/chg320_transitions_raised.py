"""More transitions are allowed.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "{after} transitions are allowed, and {before} were",
    transitions="removed changed",
    transitions_in_a_row="removed changed",
)
