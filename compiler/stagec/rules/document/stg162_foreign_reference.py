"""A schema refers to something outside the project.

## Why this matters
References are never followed out of the project: not to the net, not to absolute paths, not above the root. What they
point to could change or be anything, so the schema says nothing certain.

## How to fix
Copy what is referred to into the project and refer to it by a relative path, or by the
`$id` that the copy gives itself.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree

_REASONS = {
    "scheme": "is an address, and addresses are never opened",
    "absolute": "is an absolute path, and only relative ones are followed",
    "outside": "leads out of the project",
}


@rule(
    since="0.1",
    origin=("rulings:R20", "steps-registry:beyond.path-escape", "stage-definitions:completion-schema-ref"),
    groups=("mandatory",),
)
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("foreign-reference"):
        yield Finding(fault.at, f"the reference {quote(fault.facts['reference'])} {_REASONS[fault.reason]}")
