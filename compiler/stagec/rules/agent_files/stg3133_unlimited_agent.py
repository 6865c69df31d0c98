"""An agent may use every tool.

## Why this matters
Without `tools` an agent has every tool of the session, those of servers included. That may be what its author wants,
so this rule is an opinion.

## How to fix
Name the tools that the agent needs.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:unlimited-agent",), severity=Severity.NOTE, groups=("pedantic",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-agent"):
        if "tools" not in file.members and "name" in file.members and file.reading.is_whole:
            yield Finding(file.at, "without 'tools' this agent may use every tool")
