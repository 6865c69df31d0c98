"""An MCP server can be neither started nor reached as it is written.

## Why this matters

A server is either a program, which its `command` starts, or an address, which its `url` tells. With neither there is
no server; with both, hosts differ in what they do.

## How to fix

Give a `command` with its `args`, or a `url`, and a `type` that agrees with it: `stdio` for a command, `http` for an
address.
"""

from collections.abc import Iterator

from stagec.catalogue import Catalogue, Server
from stagec.catalogue.read import ADDRESSES
from stagec.core.nearest import NameIndex
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.tools import rule

_WAYS = NameIndex(("command", *ADDRESSES))


@rule(since="0.1", origin=("stagec:tools",))
def check(catalogue: Catalogue) -> Iterator[Finding]:
    for server in catalogue.servers.values():
        wrong = _wrong(server)
        if wrong is not None:
            yield Finding(server.at.key, f"MCP server {quote(server.name)} {wrong}")


def _wrong(server: Server) -> str | None:
    command = "command" in server.members
    address = next((each for each in ADDRESSES if each in server.members), None)
    if command and address is not None:
        return f"has both a 'command' and a {quote(address)}"
    if not command and address is None:
        return _missing(server)
    if server.transport == "stdio" and not command:
        return f"is of type 'stdio' but has a {quote(address)} instead of a 'command'"
    if server.transport in {"http", "sse"} and command:
        return f"is of type {quote(server.transport)} but has a 'command' instead of a 'url'"
    return None


def _missing(server: Server) -> str | None:
    """Say what is missing, unless a misspelt key has been told already, as it is everywhere but in `.mcp.json`."""
    misspelt = next((each for each in server.members if _WAYS.nearest(each) is not None), None)
    if misspelt is None:
        return "has neither a 'command' nor a 'url'"
    is_told = server.at.pointer[0] == "mcp"
    return None if is_told else f"has neither a 'command' nor a 'url'; is it {quote(misspelt)}, misspelt?"
