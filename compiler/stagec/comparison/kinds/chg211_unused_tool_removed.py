"""A tool is gone that no node uses to which a run can come.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "tool {name} is gone, and nothing in flight uses it", tool="removed")
