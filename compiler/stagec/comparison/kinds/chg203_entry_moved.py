"""An entry begins with another node.

## Runs in flight
A run in flight is past its entry. Runs that begin later are concerned.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "entry {name} begins elsewhere", entry="changed")
