"""A name that answers may give means another node.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "answers that name {name} mean node {after}", choice="changed")
