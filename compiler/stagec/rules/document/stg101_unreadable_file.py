"""A file or folder cannot be read.

## Why this matters
What cannot be read cannot be checked: stagec says nothing about its contents, and neither can whoever runs it.

## How to fix
Give the user who runs stagec the right to read it, put a regular file where a device or a pipe is, and mend or remove
links that lead nowhere. A folder that nobody should look at belongs into `exclude`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Fault, Tree


@rule(
    since="0.1",
    origin=(
        "steps-registry:reg.unreadable",
        "steps-registry:agent.unreadable",
        "steps-registry:path.schema-unreadable",
    ),
    groups=("mandatory",),
)
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("unreadable-file"):
        yield Finding(fault.at, _message(fault))


def _message(fault: Fault) -> str:
    file = quote(fault.at.file)
    if fault.reason == "not-regular":
        return f"{file} is not a regular file, so it is not read"
    if fault.reason == "dangling":
        return f"{file} is a link to {quote(fault.facts['target'])}, which does not exist"
    verb = "listed" if fault.reason == "folder" else "read"
    return f"{file} cannot be {verb}: {fault.facts['error']}"
