"""A new input may be given, or has a default.

## Runs in flight
A run in flight that continues with the new plan has the default.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "input {name} may be given", input="added")
