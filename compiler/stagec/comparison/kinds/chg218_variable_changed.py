"""A variable is new, is gone, or has its value from elsewhere.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "variable {name} has its value from elsewhere",
    variable="added removed changed",
    system_variable="added removed changed",
    needed="added removed",
)
