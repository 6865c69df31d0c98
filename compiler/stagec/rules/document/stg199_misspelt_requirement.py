"""A schema requires a member under another name than it declares it.

## Why this matters
`required` and `properties` stand side by side and mean the same member, but one of them misspells it. Answers must then
have a member of which nothing is said, and may leave out the one that the schema describes.

## How to fix
Write the same name in both.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import Guess
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("rulings:R20",), severity=Severity.WARNING)
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("misspelt-requirement"):
        name, meant = str(fault.facts["name"]), str(fault.facts["meant"])
        message = f"{quote(name)} is required, but 'properties' declares only {quote(meant)}, which nothing requires"
        yield Finding(fault.at, message, tuple(Related(at, text) for at, text in fault.related), Guess(name, meant))
