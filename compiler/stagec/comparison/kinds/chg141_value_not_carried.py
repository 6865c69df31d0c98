"""A node needs a value that runs in flight may have never kept.

## Runs in flight
A run of the new plan always has this value when it comes to the node. A run in flight may have passed the place where
it is kept, or may come to the node by a way that the new plan does not have.

## What to do
Let the variable have a default, or not be required, until the runs in flight have ended.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__, "node {node} needs {name}, which a run in flight may have never kept", carried_record="changed"
)
