"""The permission mode of an agent is none that Claude Code knows.

## Why this matters
The mode says what the agent may do without asking. Claude Code ignores a word that it does not know: the agent has
the mode of the session that starts it, which may allow more.

## How to fix
Write one of the modes that the message lists.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import guess
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:unknown-permission-mode",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    modes = document.known.names("permission-modes")
    for file in document.of("claude-agent"):
        given = file.members.get("permissionMode")
        if given is None or (isinstance(given, str) and given in modes) or file.where.is_plugin:
            continue
        told = f"{quote(given)} is no permission mode of {document.known.version()}, which ignores it"
        near = guess(given, modes) if isinstance(given, str) else None
        message = f"{told}; write {listing(list(modes), 'or')}"
        yield Finding(file.at / "permissionMode", message, (), near)
