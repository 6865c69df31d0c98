"""The outcome of an agent is read differently.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "the outcome of the agent of phase {node} is read differently", agent_outcomes="changed")
