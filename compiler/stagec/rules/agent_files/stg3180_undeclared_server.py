"""A tool is named of an MCP server that no file of the project declares.

## Why this matters
Claude Code also knows the servers of the user, of plugins and of claude.ai, which are not in the project. On another
machine the server may not be there, and then the name means no tool.

## How to fix
Declare the server in `.mcp.json`, or ignore this rule if everybody who works on the project has it.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.server_mentions import fold_server, list_undeclared_servers
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:undeclared-server",), severity=Severity.NOTE, groups=("pedantic",))
def check(files: AgentFiles) -> Iterator[Finding]:
    declared = {fold_server(each.tool_name) for each in files.claude.servers}
    for each in list_undeclared_servers(files):
        if fold_server(each.name) not in declared:
            yield Finding(each.at, f"no file of the project declares the MCP server {quote(each.name)}")
