"""A tool may do more, or less.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "calls of tool {name} are declared as {after}, and as {before} before", tool_effects="changed")
