"""A page about commands is a command itself.

## Why this matters
Every Markdown file below `.claude/commands` is a command: `README.md` is `/README`, and stands in the menu.

## How to fix
Move the page out of the folder.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:accidental-command",), severity=Severity.NOTE, groups=("pedantic",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-command"):
        name = file.where.name.rpartition("/")[2]
        if name.upper() in {"README", "CHANGELOG", "CONTRIBUTING", "LICENSE"}:
            yield Finding(file.at, f"this page is the command {quote('/' + file.where.name.replace('/', ':'))}")
