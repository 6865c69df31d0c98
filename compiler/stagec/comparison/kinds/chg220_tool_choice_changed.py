"""Whoever runs the plan chooses the tools, or does so no more.

## Runs in flight
Runs in flight go on, and from then on do as the new plan says.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "the tools of node {node} are chosen otherwise", tool_choice="added removed changed")
