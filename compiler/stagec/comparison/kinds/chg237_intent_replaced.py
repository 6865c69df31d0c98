"""An intent is not allowed any more, and an answer with it has a fallback.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} takes an answer with {name} as one without intent", intent="removed")
