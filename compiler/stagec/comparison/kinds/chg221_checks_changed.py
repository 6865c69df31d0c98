"""The checks of a result are other ones.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "results of node {node} are judged otherwise", checks="added removed changed")
