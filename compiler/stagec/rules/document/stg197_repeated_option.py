"""Two parameters of an agent have the same option.

## Why this matters
The option of the command line says which parameter a value is for. With one option for two of them, one can never be
given, and nobody knows which.

## How to fix
Give each parameter an option of its own.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("steps-registry:agent.param-dup-cli",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("repeated-option"):
        related = tuple(Related(at, why) for at, why in fault.related)
        others = ", ".join(quote(at.pointer[1]) for at, _ in fault.related)
        yield Finding(fault.at, f"option {quote(fault.facts['option'])} is that of parameter {others} already", related)
