"""A node waits otherwise between attempts.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} waits otherwise between attempts", backoff="added removed changed")
