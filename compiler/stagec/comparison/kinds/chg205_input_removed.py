"""An input is gone.

## Runs in flight
What a run in flight was given stays in its state, and nothing uses it.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "input {name} is gone", input="removed")
