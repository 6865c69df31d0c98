"""The checks of a result are other ones.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "results of node {node} are judged otherwise", checks="added removed changed")
