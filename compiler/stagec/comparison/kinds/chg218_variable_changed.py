"""A variable is new, is gone, or has its value from elsewhere.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "variable {name} has its value from elsewhere",
    variable="added removed changed",
    system_variable="added removed changed",
    needed="added removed",
)
