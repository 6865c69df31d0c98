"""A node is gone that no run of the old plan can reach.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} is gone, and no run reaches it", node="removed")
