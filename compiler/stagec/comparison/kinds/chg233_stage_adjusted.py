"""A stage reads or leaves something else.

## Runs in flight
What is read of other stages is an output of theirs; CHG143 tells where that is missing.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "stage {node} reads or leaves something else",
    process_input="added removed changed",
    output="added removed changed",
    checkpoint="changed",
)
