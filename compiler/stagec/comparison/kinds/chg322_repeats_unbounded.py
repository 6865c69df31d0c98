"""Nothing but the limits of the run bounds how often a node repeats.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} may repeat as often as the limits allow", repeats="removed")
