"""A value of an agent is of a kind that Claude Code ignores.

## Why this matters
Claude Code does not refuse an agent because of such a value, and does not tell: the limit, the memory or the
isolation that was asked for is not there.

## How to fix
Write a value that the message names.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import list_of
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.values import find_misfits, present
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:ignored-agent-value",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    known = document.known
    for file in document.of("claude-agent"):
        for wrong in find_misfits(present(file.members), file.at, known, "agent"):
            yield Finding(wrong.at, f"Claude Code ignores this value: {wrong}")
        for index, each in enumerate(list_of(file.members.get("mcpServers"))):
            if not file.where.is_plugin and not (isinstance(each, str | dict) and each):
                told = "Claude Code drops this server: it must be a name, or a map of a name to its configuration"
                yield Finding(file.at / "mcpServers" / index, told)
