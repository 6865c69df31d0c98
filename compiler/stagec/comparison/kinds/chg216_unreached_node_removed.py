"""A node is gone that no run of the old plan can come to.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} is gone, and no run comes to it", node="removed")
