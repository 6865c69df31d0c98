"""The limit of node executions is higher, or gone.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "the limit of node executions is {after}, and was {before}", executions="removed changed")
