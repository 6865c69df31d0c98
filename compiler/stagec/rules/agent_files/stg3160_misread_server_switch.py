"""A server of `.mcp.json` is switched off by a key that Claude Code does not read.

## Why this matters
Claude Code starts the server all the same. stagec and some editors read the key.

## How to fix
Name the server in `disabledMcpjsonServers` of `.claude/settings.json`, or remove it from the file.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:misread-server-switch",), severity=Severity.NOTE)
def check(files: AgentFiles) -> Iterator[Finding]:
    for server in files.claude.servers:
        for fault in server.faults:
            if fault.reason == "disabled":
                message = f"Claude Code does not read 'disabled': it starts the MCP server {quote(server.name)}"
                yield Finding(fault.at.key, message)
