"""A file lies outside the project.

## Why this matters
A project must mean the same wherever it is checked out, and checking it must not reveal what else lies on a machine.
A file behind a link that leads out of the project is therefore never opened.

## How to fix
Put a copy of the file into the project, or begin the project further up with `--root`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("steps-registry:beyond.path-escape",), groups=("mandatory",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("outside-project"):
        target = quote(fault.facts["target"])
        yield Finding(fault.at, f"{quote(fault.at.file)} is a link that leads out of the project, to {target}")
