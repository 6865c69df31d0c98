"""A frontmatter ends at a `---` inside of a value or a comment, and the keys below it are lost.

## Why this matters
Claude Code takes the first `---` behind the opening line for the end of a frontmatter, also in the middle of a line.
Keys below are text: without its `tools` an agent may use every tool.

## How to fix
Write the value without three dashes in a row.
"""

from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:cut-frontmatter",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.files:
        if file.reading.cut is not None:
            at = Place(file.at.file, range=file.reading.cut)
            yield Finding(
                at, f"{file.kind.owner} takes this '---' for the end of the frontmatter: what follows is lost"
            )
