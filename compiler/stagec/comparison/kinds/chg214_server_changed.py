"""A server of tools has changed.

## Runs in flight
The changes of its tools say what it means for runs in flight.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "server {name} is {after}", server="added removed changed")
