"""A file has the markers of a conflict that git could not merge.

## Why this matters
The file says two different things at once. JSON and YAML with markers cannot be read. Text with markers can: a model
would get both versions of a prompt, and the markers.

## How to fix
Keep what is right of both versions, and remove the lines that begin with `<<<<<<<`, `|||||||`, `=======` and
`>>>>>>>`. `git diff` shows all conflicts that are left.

Text that only shows such lines stands in a code block between fences (three backticks). There they are no mistake.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("git:conflict-markers",), groups=("mandatory",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("conflict-markers"):
        count = fault.facts["count"]
        found = "a conflict that git could not merge" if count == 1 else f"{count} conflicts that git could not merge"
        related = tuple(Related(at, f"the line with {quote(mark)}") for at, mark in fault.related)
        message = f"the file has {found}: keep one version, and remove the lines with the markers"
        yield Finding(fault.at, message, related)
