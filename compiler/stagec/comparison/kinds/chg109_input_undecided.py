"""It is not known whether the schema of an input accepts all that it accepted.

## Runs in flight
stagec compares schemas keyword by keyword. It cannot show that the new schema accepts every old value, and has found
none that it refuses. What is not known is not promised, so this counts as breaking.

## What to do
Look at the two schemas yourself, and accept the code with `--allow` if every old value is still accepted.
"""

from stagec.comparison.judging import is_undecided
from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "it is not known whether the schema of input {name} accepts all that it accepted",
    is_undecided,
    input_schema="added removed changed",
)
