"""Something is described otherwise.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
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
