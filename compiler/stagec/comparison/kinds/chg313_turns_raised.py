"""The limit of turns is higher.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} has {after} turns, and had {before}", turns="changed")
