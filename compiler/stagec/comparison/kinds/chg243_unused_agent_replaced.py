"""Another agent works in a phase that no run of the old plan can come to.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "agent {after} works in phase {node}, to which no run comes", agent="changed")
