"""The default of a parameter is of another type than the parameter.

## Why this matters
A run whose caller leaves the parameter out has its default. Of another type it is no value of the parameter: the run is
refused, or the agent is given what it does not expect.

## How to fix
Write a default of the type: `500` for a number, `"500"` for a string, `true` for a boolean, `[]` for an array. Without
`default` there is none; `null` is of no type.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import kinds, rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("steps-registry:agent.param-default-type",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("mistyped-default"):
        facts = fault.facts
        wanted, got = kinds(facts["type"]), kinds(facts["kind"]) if facts["kind"] != "null" else "null"
        yield Finding(fault.at, f"the default of parameter {quote(facts['name'])} must be {wanted}, found {got}")
