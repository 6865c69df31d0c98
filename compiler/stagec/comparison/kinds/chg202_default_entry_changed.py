"""Another entry is the default.

## Runs in flight
A run in flight has its entry. Runs that begin later are concerned.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "runs that name no entry begin with {after}", default_entry="added removed changed")
