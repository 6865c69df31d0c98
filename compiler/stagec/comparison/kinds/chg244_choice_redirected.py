"""A name that answers may give means another node.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "answers that name {name} mean node {after}", choice="changed")
