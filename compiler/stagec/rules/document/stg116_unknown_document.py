"""A file named on the command line is none that stagec reads.

## Why this matters
Whoever names a file expects it to be checked. A run that says nothing about it looks like a run that found nothing
wrong.

## How to fix
Name a step registry or an agent definition, or the folder it lies in.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("rulings:everywhere",), severity=Severity.WARNING)
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("unknown-document"):
        yield Finding(fault.at, f"nothing that stagec knows how to judge is in {quote(tree.file)}")
