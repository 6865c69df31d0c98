"""An answer may name one more node.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "answers may name {name}", choice="added")
