"""A node runs another program, or has another time for it.

## Runs in flight
A program that was started keeps its words and its time.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__, "node {node} runs another program, or has another time for it", program="changed", time_limit="changed"
)
