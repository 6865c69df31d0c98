"""What an agent comes to is read otherwise.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "what the agent of phase {node} comes to is read otherwise", agent_outcomes="changed")
