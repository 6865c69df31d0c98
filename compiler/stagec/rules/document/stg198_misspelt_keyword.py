"""A schema has a member that is no keyword, and looks like a misspelt one.

## Why this matters
JSON Schema ignores members that it does not know. What the keyword was meant to demand is not checked, and answers that
it should refuse are accepted.

## How to fix
Write the keyword as the message names it. An annotation of your own is safe under a name that begins with `x-`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import Guess
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("rulings:R20",), severity=Severity.WARNING)
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("misspelt-keyword"):
        name, meant = str(fault.facts["name"]), str(fault.facts["meant"])
        message = f"{quote(name)} is no keyword and says nothing; did you mean {quote(meant)}?"
        yield Finding(fault.at, message, fix=Guess(name, meant))
