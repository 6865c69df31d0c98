"""A node is admitted otherwise.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} is admitted otherwise", admission="added removed changed")
