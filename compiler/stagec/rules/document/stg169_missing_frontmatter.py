"""A stage definition has no frontmatter.

## Why this matters
The frontmatter says what the stage is called, which tools it may use and how it hands in its result. A file without it
is a prompt and nothing more; no pipeline can run it.

## How to fix
Begin the file with a line `---`, write the members of a stage definition as YAML, and close them with another line
`---`. If the file is no stage definition, leave it out of the `stages` of the pipeline.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.rules.document import rule
from stagec.sources.tree import Tree


@rule(since="0.1", origin=("stage-definitions:frontmatter-missing",))
def check(tree: Tree) -> Iterator[Finding]:
    for fault in tree.about("missing-frontmatter"):
        must = "must begin with its members between two lines '---'"
        if fault.reason == "late":
            must = "must begin on the first line, and there are blank lines before '---'"
        yield Finding(fault.at, f"this stage definition has no frontmatter: it {must}")
