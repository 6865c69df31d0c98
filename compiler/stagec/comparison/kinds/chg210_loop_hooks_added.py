"""Callables are added at a slot of the message loop.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "callables are added at {name}", loop_hooks="added removed changed")
