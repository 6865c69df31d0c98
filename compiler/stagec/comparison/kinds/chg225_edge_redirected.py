"""An edge leads elsewhere.

## Runs in flight
A run in flight that stands at the node takes the new way. One that has taken the old way goes on from there.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} leads elsewhere on {name}", edge="changed")
