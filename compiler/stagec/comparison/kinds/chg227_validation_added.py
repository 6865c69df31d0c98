"""A node is validated.

## Runs in flight
A run in flight whose answer has come is not validated. The next answer is.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "node {node} is validated", validation="added")
