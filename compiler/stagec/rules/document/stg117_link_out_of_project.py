"""A link to a folder leads out of the project.

## Why this matters
stagec does not follow it, so agents that lie behind it are not checked. That is mostly what is wanted, but it should
not go unsaid.

## How to fix
Nothing, if what lies behind the link is no part of the project; naming the link in `exclude` ends the note. Otherwise
move the folder into the project, or begin the project further up with `--root`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("steps-registry:beyond.path-escape",), severity=Severity.NOTE)
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("link-out-of-project"):
        file, target = quote(fault.at.file), quote(fault.facts["target"])
        yield Finding(fault.at, f"{file} leads out of the project, to {target}, and is not looked into")
