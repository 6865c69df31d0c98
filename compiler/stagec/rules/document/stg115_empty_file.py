"""A file that should hold a document is empty.

## Why this matters
An empty file is no document, so whatever refers to it gets nothing. Most often a write was interrupted.

## How to fix
Restore the file's content, or delete the file and what refers to it.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.rules.document import rule
from stagec.sources.tree import Tree

_SENTENCES = {
    "blank": "the file holds nothing but white space",
    "comments": "the file holds nothing but comments",
}


@rule(
    since="0.1",
    origin=("steps-registry:agent.invalid-json", "steps-registry:reg.unreadable", "steps-registry:gate.schema-load"),
)
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("empty-file"):
        yield Finding(fault.at, _SENTENCES.get(fault.reason, "the file is empty"))
