"""The schema of an input refuses values that it accepted.

## Runs in flight
A run in flight was begun with a value that the old schema accepts. stagec has found one that the new schema refuses.

## What to do
Accept the old values as well, or add another input.
"""

from stagec.comparison.judging import is_narrowed
from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "the schema of input {name} refuses what runs in flight may have been given",
    is_narrowed,
    input_schema="added removed changed",
)
