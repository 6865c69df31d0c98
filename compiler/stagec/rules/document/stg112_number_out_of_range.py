"""A number is too large to be held, or is none.

## Why this matters
Programs read such a number as infinity, round it, or refuse the file; no two agree what it means.

## How to fix
Write a smaller number, or put it in double quotes when it is not meant to be calculated with.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Fault, Tree


@rule(since="0.1", origin=("RFC8259-6",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("number-out-of-range"):
        yield Finding(fault.at, _sentence(fault))


def _sentence(fault: Fault) -> str:
    if fault.reason == "digits":
        found = f"an integer of {fault.facts['digits']} digits" if "digits" in fault.facts else "this integer"
        return f"{found} is too long; at most {fault.facts.get('limit', 4300)} digits can be read"
    if fault.reason == "no-number":
        return f"{quote(fault.facts['number'])} is no number that JSON can hold"
    found = f"the number {quote(fault.facts['number'])}" if "number" in fault.facts else "this number"
    return f"{found} is too large; the largest that can be held is about 1.8e308"
