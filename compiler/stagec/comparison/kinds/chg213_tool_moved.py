"""A tool comes from elsewhere.

## Runs in flight
Calls are carried out by whoever has the tool when they are made.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "tool {name} comes from elsewhere", tool_source="changed")
