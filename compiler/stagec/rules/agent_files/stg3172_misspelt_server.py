"""A tool is named with an MCP server that is spelt otherwise where it is declared.

## Why this matters
Claude Code compares the names of tools letter by letter. Capital letters count, and `-` is not `_`. The name means no
tool, so an agent does not get it, and a permission rule matches nothing.

## How to fix
Write the server as `.mcp.json` does. Characters other than letters, digits, `-` and `_` become `_`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.server_mentions import fold_server, list_undeclared_servers
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:undeclared-server",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    declared = {fold_server(each.tool_name): each for each in files.claude.servers}
    for each in list_undeclared_servers(files):
        meant = declared.get(fold_server(each.name))
        if meant is not None:
            related = (Related(meant.at.key, "declared here"),)
            yield Finding(
                each.at, f"no MCP server is called {quote(each.name)}; is it {quote(meant.tool_name)}?", related
            )
