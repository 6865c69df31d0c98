"""A tool is new.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "tool {name} is new", tool="added", node_tool="added")
