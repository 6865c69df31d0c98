"""An edge is new, and no other is taken less often.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} has a way on {name}", edge="added")
