"""Stages of a schedule are new, or need other stages.

## Runs in flight
A run of processes counts what each stage needs again when it is resumed, from what has been published.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__, "the stages of entry {name} are in another order at {node}", scheduled_node="added", needs="changed"
)
