"""A whole number is too large to be the same for every program.

## Why this matters
Many programs hold numbers as floats, which beyond 9007199254740991, up and down, take one whole number for another. A
plan is read by all kinds of programs, so it has no such numbers. In a JSON Schema they are fine: a plan holds its text.

## How to fix
Write a smaller number, or put it in double quotes when it is not meant to be calculated with, such as an id.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("RFC7493-2.2", "RFC8785-3.2.2.3"))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("inexact-number"):
        number, limit = int(str(fault.facts["number"])), int(str(fault.facts["limit"]))
        least = f"the largest that can is {limit}" if number > 0 else f"the smallest that can is -{limit}"
        yield Finding(fault.at, f"the whole number {quote(number)} cannot be held exactly; {least}")
