"""A file is not encoded in UTF-8.

## Why this matters
JSON is UTF-8 by its standard, and for YAML and Markdown every other encoding is a guess: the same bytes would be read
as different texts on different machines.

## How to fix
Save the file as UTF-8 in your editor. `iconv -f WINDOWS-1252 -t UTF-8` does it for many files.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.rules.document import rule
from stagec.sources.tree import Fault, Tree


@rule(
    since="0.1",
    origin=("steps-registry:reg.unreadable", "steps-registry:agent.unreadable", "steps-registry:gate.schema-load"),
    groups=("mandatory",),
)
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("not-utf8"):
        yield Finding(fault.at, _message(fault))


def _message(fault: Fault) -> str:
    if fault.reason == "utf16":
        return "file looks like UTF-16 or UTF-32, expected UTF-8"
    return f"byte 0x{fault.facts['byte']:02x} at offset {fault.facts['offset']} is not UTF-8"
