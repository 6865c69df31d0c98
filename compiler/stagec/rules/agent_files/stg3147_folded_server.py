"""Two MCP servers have the same name in the names of their tools.

## Why this matters
Characters other than letters, digits, `-` and `_` become `_`. Tools of both servers are `mcp__NAME__TOOL` then, and
permissions for one count for the other.

## How to fix
Rename one of the servers.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.mcp_servers import McpServer
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:folded-server",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    first: dict[tuple[str, str], McpServer] = {}
    for each in files.claude.servers:
        other = first.setdefault((each.at.file, each.tool_name), each)
        if other.name != each.name:
            related = (Related(other.at.key, "the other server"),)
            prefix = quote(f"mcp__{each.tool_name}__")
            told = f"tools of {quote(each.name)} and {quote(other.name)} begin with {prefix}"
            yield Finding(each.at.key, told, related)
