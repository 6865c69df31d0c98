"""A condition is not written as one.

## Why this matters
`when` maps paths to the values that may stand there: a value, a list of values of which any will do, or
`{present: true}` and `{present: false}`. There are no comparisons and no expressions; what is written instead would
never be looked at.

## How to fix
Write a path and its values, such as `parsed.severity: [high, critical]`. A decision that needs more belongs in the
stage, whose result can say what was decided.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.value import replace
from stagec.rules.document import misshapen, rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("rulings:pipelines",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault, finding in zip(tree.about("malformed-condition"), misshapen(tree, "malformed-condition"), strict=True):
        is_text = fault.at.pointer[-1:] == ("when",) and fault.facts.get("kind") == "string"
        advice = "; write it like '{parsed.approved: true}'" if is_text else ""
        yield replace(finding, message=f"{finding.message}{advice}")
