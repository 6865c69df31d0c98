"""A flow is gone.

## Runs in flight
A run in flight of this flow has no new plan.

## What to do
A flow that was renamed is another flow: keep the old name until its runs have ended.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "flow {name} is gone, and its runs have no plan to continue with", flow="removed")
