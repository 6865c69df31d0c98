"""Whoever runs the plan chooses the tools, or does so no more.

## Runs in flight
Runs in flight continue, and follow the new plan from then on.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "the tools of node {node} are chosen otherwise", tool_choice="added removed changed")
