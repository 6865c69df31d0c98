"""A workflow of gh-aw is not compiled.

## Why this matters
GitHub runs the compiled file that ends with `.lock.yml`, and no Markdown.

## How to fix
Run `gh aw compile`, and commit the file that it writes.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:uncompiled-workflow",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for lost in files.claude.lost:
        if lost.use == "lock":
            yield Finding(lost.at, f"the workflow never runs: there is no file {quote(lost.path)}")
