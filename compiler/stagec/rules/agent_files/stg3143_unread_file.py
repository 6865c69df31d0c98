"""A file is where its tool does not look for it.

## Why this matters
Nothing of the file counts, and nobody says so.

## How to fix
Move or rename the file as the message says.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule

_KINDS = {
    "claude-unread-servers": "Claude Code reads '.mcp.json' in the root of the project, not in '.claude'",
    "cursor-unread-rule": "Cursor reads rules that end with '.mdc', and no '.md'",
}


@rule(since="0.1", origin=("agent-files:unread-file",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for name, message in _KINDS.items():
        for file in files.of(name):
            is_rule = name != "cursor-unread-rule" or bool(file.members)
            if is_rule:  # a page without a frontmatter is meant for people
                yield Finding(file.at, message)
