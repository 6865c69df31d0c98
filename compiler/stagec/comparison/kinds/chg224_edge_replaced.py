"""An edge is gone, and what took it certainly takes another one, or cannot happen any more.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "the edge of node {node} on {name} is gone, and another takes its place", edge="removed")
