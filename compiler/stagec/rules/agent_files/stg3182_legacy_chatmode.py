"""A chat mode of VS Code is written in the old form.

## Why this matters
Chat modes are called agents now. VS Code still reads the old files, and GitHub and Copilot CLI do not.

## How to fix
Move the file to `.github/agents`, and end its name with `.agent.md`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:legacy-chatmode",), severity=Severity.NOTE, groups=("pedantic",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("copilot-chat-mode"):
        meant = f".github/agents/{file.where.name}.agent.md"
        yield Finding(file.at, f"chat modes are called agents now: this one belongs into {quote(meant)}")
