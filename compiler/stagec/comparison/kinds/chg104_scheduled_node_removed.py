"""A node is gone from a schedule.

## Runs in flight
A run in flight may be at this node, or may have results of it that others need.

## What to do
Keep what is there until the runs in flight have ended, or let them end under the old plan, which their journals hold.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "node {node} is no longer in the schedule of entry {name}, where a run in flight may be at it",
    scheduled_node="removed",
)
