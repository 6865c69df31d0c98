"""A stage may run again.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "stage {node} may run again", retryable="changed")
