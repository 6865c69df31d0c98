"""A tool may do more, or less.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "calls of tool {name} are declared as {after}, and as {before} before", tool_effects="changed")
