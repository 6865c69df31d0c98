"""The security mode is another one.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "the security mode is {after}, and was {before}", mode="added removed changed")
