"""An input may be left out.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "input {name} may be left out", input_required="changed")
