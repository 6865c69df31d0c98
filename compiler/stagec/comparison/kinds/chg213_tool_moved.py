"""A tool comes from elsewhere.

## Runs in flight
The server that has the tool at the time of a call carries it out.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "tool {name} comes from elsewhere", tool_source="changed")
