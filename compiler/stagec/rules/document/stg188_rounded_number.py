"""A schema compares values with a whole number that runs do not hold exactly.

## Why this matters
Runs hold numbers as floats, like most programs that read JSON. Beyond 9007199254740991, up and down, these take one
whole number for another: the number of the schema and those of answers alike. An answer with a neighbour of the number
is accepted in its place.

## How to fix
Write a smaller number. What is not meant to be calculated with, such as an id, is better a text in double quotes.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("RFC7493-2.2", "RFC8785-3.2.2.3"), severity=Severity.WARNING)
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("rounded-number"):
        number, held = fault.facts["number"], fault.facts["held"]
        yield Finding(fault.at, f"runs do not tell the whole number {number} from {held}")
