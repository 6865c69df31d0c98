"""An answer may not name a node any more that it could.

## Runs in flight
A model that was asked before the change may name this node, and its jump leads nowhere.

## What to do
Keep the name that answers may give until the runs in flight have ended.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "answers may not name {name} any more, and one on its way may do so", choice="removed")
