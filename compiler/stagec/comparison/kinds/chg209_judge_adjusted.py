"""The work is judged otherwise.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "the work is judged otherwise", judge="added removed changed")
