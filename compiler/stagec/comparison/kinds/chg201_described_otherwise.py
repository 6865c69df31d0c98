"""Something is described otherwise.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "it is described otherwise",
    title="added removed changed",
    version="added removed changed",
    names="changed",
    node_title="added removed changed",
    node_kind="added removed changed",
    tool_description="added removed changed",
)
