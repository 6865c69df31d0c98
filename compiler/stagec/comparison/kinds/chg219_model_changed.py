"""Another model is asked, or with another permission.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__, "{after} is asked, and {before} before", model="added removed changed", permission="added removed changed"
)
