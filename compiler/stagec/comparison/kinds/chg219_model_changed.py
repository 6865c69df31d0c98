"""Another model is asked, or with another permission.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__, "{after} is asked, and {before} before", model="added removed changed", permission="added removed changed"
)
