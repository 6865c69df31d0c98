"""A node is new.

## Runs in flight
Every run in flight goes on as before.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} is new", node="added")
