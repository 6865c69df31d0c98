"""A file is larger than the limit.

## Why this matters
Nobody writes a workflow of several megabytes by hand. A file that large is mostly there by accident, and reading it
would make every run slow.

## How to fix
Take out of the file what does not belong there. If it is right as it is, raise the limit in `stagec.toml`:
`budgets.file-size`, in bytes.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("rulings:everywhere",), groups=("mandatory",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("oversized-file"):
        size, limit = fault.facts.get("size"), fault.facts["limit"]
        if fault.reason == "values":
            yield Finding(fault.at, f"file has more values than the {limit:,} that are read of one file")
        else:
            yield Finding(fault.at, f"file has {size:,} bytes, more than the {limit:,} that 'budgets.file-size' allows")
