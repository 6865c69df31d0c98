"""The security mode is another one.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "the security mode is {after}, and was {before}", mode="added removed changed")
