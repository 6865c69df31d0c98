"""A step registry is written in a later format than stagec reads.

## Why this matters
The later format says the same things in other words: `kind` and `address` instead of `stepKind`, `c2` and `c3`, pairs
of entry steps, and two lists of conditions. Judged by the rules of this format nearly every line of it would be
wrong.

## How to fix
Convert the registry to the format of version 1.13, or wait for a stagec that reads the later one.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.rules.document import rule
from stagec.sources.tree import Tree

_SIGNS = {
    "kind": "a step has a 'kind'",
    "address": "a step has an 'address'",
    "entry": "an entry is a pair of steps",
    "preflightConditions": "a validation step has 'preflightConditions'",
    "postLLMConditions": "a validation step has 'postLLMConditions'",
}


@rule(since="0.1", origin=("rulings:R22",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("future-format"):
        yield Finding(
            fault.at, f"this registry is written in the format of 1.14, which is not read yet: {_SIGNS[fault.reason]}"
        )
