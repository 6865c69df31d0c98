"""`CLAUDE.md` imports a file that is not there.

## Why this matters
Claude Code reads on without a word. What the file was to say is not said.

## How to fix
Correct the path, which counts from the folder of the file that names it, or write the name without `@`. In code, in
backticks or behind a fence, `@` imports nothing.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:missing-import",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for lost in files.claude.lost:
        if lost.use == "import":
            yield Finding(lost.at, f"the import reads nothing: there is no file {quote(lost.path)}")
