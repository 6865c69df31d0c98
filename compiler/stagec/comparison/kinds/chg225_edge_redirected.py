"""An edge leads elsewhere.

## Runs in flight
A run in flight at the node takes the new edge. A run that has taken the old edge continues from there.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} leads elsewhere on {name}", edge="changed")
