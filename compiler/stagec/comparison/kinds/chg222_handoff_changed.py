"""A node keeps other values for others.

## Runs in flight
Whether a node misses a value is told by CHG141.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} keeps {name} otherwise for others", handoff="added removed changed")
