"""A step registry is written in a format between those of climpt 1.13 and 1.14.

## Why this matters
Its steps are written as in 1.13, with `c2`, `c3` and `stepKind`, but its entries are pairs of steps, its conditions
stand in two lists, or its validators have a phase, as in 1.14. No release of climpt reads such a registry: judged by
the rules of either format, many of its lines would be wrong.

## How to fix
Write the whole registry in the format of 1.14: `kind` instead of `stepKind`, and an `address` instead of `c2`, `c3`,
`edition` and `adaptation`. To stay with 1.13, name one step for each entry, and write one list `validationConditions`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.rules.document import rule
from stagec.sources.tree import Tree

_SIGNS = {
    "entry": "an entry is a pair of steps",
    "preflightConditions": "a validation step has 'preflightConditions'",
    "postLLMConditions": "a validation step has 'postLLMConditions'",
    "phase": "a validator has a 'phase'",
}


@rule(since="0.1", origin=("rulings:R22",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("future-format"):
        message = "this registry is written between 1.13 and 1.14: its steps are those of 1.13, but"
        yield Finding(fault.at, f"{message} {_SIGNS[fault.reason]}")
