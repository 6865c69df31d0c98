"""The bounds of how often a node repeats in a row are other ones.

## Runs in flight
A run in flight may have repeated the node more often than the new bounds allow. stagec does not compare the bounds
one by one, so every change but their end counts as breaking.

## What to do
Keep the bounds until the runs in flight have ended.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__, "node {node} may repeat otherwise in a row, and a run in flight may be beyond it", repeats="added changed"
)
