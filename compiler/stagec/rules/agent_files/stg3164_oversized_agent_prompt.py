"""The text of a Copilot agent is longer than GitHub takes.

## Why this matters
GitHub takes at most 30,000 characters below the frontmatter of an agent. A longer agent works in VS Code only.

## How to fix
Shorten the text, or write `target: vscode` if the agent is for that only.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule

_MOST = 30_000


@rule(since="0.1", origin=("agent-files:dropped-handoff",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("copilot-agent"):
        start, end = file.tree.body or (0, 0)
        length = len(file.text[start:end].strip())
        if length > _MOST and file.members.get("target") != "vscode":
            yield Finding(file.at, f"the text of the agent has {length:,} characters; GitHub takes at most {_MOST:,}")
