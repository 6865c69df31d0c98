"""A node waits otherwise between attempts.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} waits otherwise between attempts", backoff="added removed changed")
