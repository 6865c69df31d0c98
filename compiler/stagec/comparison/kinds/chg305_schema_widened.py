"""A schema accepts more than before.

## Runs in flight
Every run in flight continues as before.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "a schema accepts more",
    schema="added removed changed",
    accepts="added removed changed",
    input_schema="added removed changed",
    tool_schema="added removed changed",
)
