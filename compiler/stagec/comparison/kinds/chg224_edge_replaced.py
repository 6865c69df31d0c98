"""An edge is gone, and what took it certainly takes another one, or cannot happen any more.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "the edge of node {node} on {name} is gone, and another takes its place", edge="removed")
