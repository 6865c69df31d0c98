"""A new input may be given, or has a default.

## Runs in flight
A run in flight that goes on under the new plan has the default.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "input {name} may be given", input="added")
