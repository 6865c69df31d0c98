"""More nodes run at the same time.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "{after} nodes may run at the same time, and {before} before", parallel="changed")
