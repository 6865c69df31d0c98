"""A run that reaches the limit of node executions ends otherwise.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "a run that reaches the limit of node executions ends as {after}", reached="changed")
