"""Callables are added at a slot of the message loop.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "callables are added at {name}", loop_hooks="added removed changed")
