"""An intent is not allowed any more, and an answer with it has a fallback.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} takes an answer with {name} as one without intent", intent="removed")
