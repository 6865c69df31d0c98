"""A run that reaches the limit of node executions ends otherwise.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "a run that reaches the limit of node executions ends as {after}", reached="changed")
