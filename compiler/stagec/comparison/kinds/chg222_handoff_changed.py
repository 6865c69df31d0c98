"""A node keeps other values for others.

## Runs in flight
CHG141 reports a node that misses a value.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} keeps {name} otherwise for others", handoff="added removed changed")
