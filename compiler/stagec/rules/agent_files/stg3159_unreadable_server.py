"""Claude Code cannot use a server of `.mcp.json` as it is written.

## Why this matters
The server is left out with all its tools, or it is started with a variable that nobody has filled in. The other servers
of the file still work.

## How to fix
Give the server the type `stdio`, `sse`, `http` or `ws`, a name that Claude Code does not keep for itself, and its
address under `url`. Variables are `${NAME}` and `${NAME:-default}`; `${env:NAME}` is read by other programs.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.nearest import hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.known import Known
from stagec.frontends.agent_files.mcp_servers import McpServer, ServerFault
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:unreadable-server",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for server in files.claude.servers:
        for fault in server.faults:
            said = _describe(fault, files.known)
            if said is not None:
                yield Finding(fault.at, f"MCP server {quote(server.name)} {said}", fix=_fix(server, fault))


def _describe(fault: ServerFault, known: Known) -> str | None:
    """Say what is wrong, as far as no rule about tools or shapes says it."""
    if fault.reason == "reserved":
        return f"has a name that {known.version()} keeps for itself: it leaves the server out"
    if fault.reason == "type":
        types = known.names("server-types")
        doubt = hint(fault.found, types)
        return (
            f"has the type {quote(fault.found)}, which {known.version()} does not know: it leaves the server out{doubt}"
        )
    if fault.reason == "foreign address":
        return f"has its address under {quote(fault.found)}, which Claude Code does not read: it leaves the server out"
    if fault.reason == "foreign variable":
        return f"has {quote(fault.found)} in it, which Claude Code does not fill in"
    return None


def _fix(server: McpServer, fault: ServerFault) -> Fix | None:
    if fault.reason == "foreign address":
        return Fix("rename it to 'url'", (Edit(Change.RENAME, server.at / fault.found, "url"),), is_safe=False)
    return None
