"""A server in `.mcp.json` has an address and no type.

## Why this matters
Claude Code takes a server without a type for a program that it starts. It finds no command, and leaves the server out
with all its tools. Other hosts read the address and are satisfied.

## How to fix
Add `"type": "http"`, or `"type": "sse"` for a server that speaks the older protocol.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.mcp_servers import ServerFault
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:untyped-server-address",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for server in files.claude.servers:
        for fault in server.faults:
            if fault.reason == "untyped":
                message = f"MCP server {quote(server.name)} has a 'url' without a 'type': Claude Code leaves it out"
                yield Finding(server.at.key, message, fix=_fix(server.at, fault))


def _fix(at: Place, fault: ServerFault) -> Fix:
    """Return the type to add; behind `/sse` most servers speak the older protocol, which is a guess."""
    is_old = fault.found.rstrip("/").endswith("/sse")
    kind = "sse" if is_old else "http"
    return Fix(f"add the type {quote(kind)}", (Edit(Change.INSERT, at / "type", kind),), is_safe=not is_old)
