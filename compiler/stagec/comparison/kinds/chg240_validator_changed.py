"""A validator checks otherwise, or is gone.

## Runs in flight
CHG137 and CHG138 tell where a node has other validators.
"""

from stagec.comparison.kind import declare

KIND = declare(__name__, "validator {name} checks otherwise", validator="removed changed")
