"""The work is judged otherwise.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "the work is judged otherwise", judge="added removed changed")
