"""The limit of turns is higher.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "the limit of turns of node {node} is {after}, and was {before}", turns="changed")
