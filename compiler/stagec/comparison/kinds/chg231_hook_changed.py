"""Another callable is called for a phase, or none.

## Runs in flight
A callable that was asked before the change may still answer.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "another callable is called for {name} of node {node}", hook="added removed changed")
