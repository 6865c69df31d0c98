"""An input has another default.

## Runs in flight
A run in flight has the old value. Runs that begin later are concerned.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "input {name} has another default", input_default="added removed changed")
