"""Judging a value by a schema, or compiling its patterns, can take very long.

## Why this matters
A reference costs a few characters and stands for a whole schema. Where every level refers twice to the next, thirty
levels judge one value a billion times, and a run that judges an answer by them never ends. Large repetitions of large
classes do the same to regular expressions. No plan is made of such a schema, and none is loaded.

## How to fix
Refer once to what several parts share, keep `unevaluatedProperties` at the outermost schema only, let a recursion go
through `properties` or `items`, and repeat classes of Unicode without a large count: `maxLength` says it better.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree

_REASONS = {
    "expansion": "this schema judges one place of a value by more than {limit:,} schemas",
    "endless": "this schema refers to itself without going into the value",
    "steps": "judging this by its schema takes more than {limit:,} steps",
    "size": "the pattern {got} becomes too large when it is compiled",
    "total": "the pattern {got} brings all patterns of the project to more than can be compiled",
}


@rule(since="0.1", origin=("rulings:everywhere", "CWE-1333", "CWE-400"), groups=("mandatory",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("costly-schema"):
        got = quote(fault.facts.get("got", ""))
        yield Finding(fault.at, _REASONS[fault.reason].format(limit=fault.facts.get("limit"), got=got))
