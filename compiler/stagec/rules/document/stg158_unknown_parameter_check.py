"""The value of a parameter is to be checked in a way that there is not.

## Why this matters
`validation` of a parameter knows `min`, `max`, `pattern` and `enum`. Anything else, mostly a misspelling of these, is
not looked at, and any value passes.

## How to fix
Write one of the four, or delete the member.
"""

from stagec.core.diagnostic import Severity
from stagec.rules.document import shape_rule

RULE = shape_rule(__name__, since="0.1", origin=("steps-registry:doc.R-F16",), severity=Severity.WARNING)
