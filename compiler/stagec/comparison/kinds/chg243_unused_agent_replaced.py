"""Another agent works in a phase that no run of the old plan can reach.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "agent {after} works in phase {node}, which no run reaches", agent="changed")
