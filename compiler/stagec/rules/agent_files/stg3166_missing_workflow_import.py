"""A workflow of gh-aw imports a file that is not there.

## Why this matters
`gh aw compile` fails, so the workflow that runs is the old one or none.

## How to fix
Correct the path. It counts from the folder of the workflow; one that begins with `/` or `.github/` counts from the
root of the repository.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:missing-workflow-import",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for lost in files.claude.lost:
        if lost.use == "workflow import":
            yield Finding(lost.at, f"the project has no file {quote(lost.path)} to import")
