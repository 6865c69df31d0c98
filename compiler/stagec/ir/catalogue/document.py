"""A tool catalogue as it was written: its tools, the servers that offer more, and what is known of these."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum

from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.value import NOTHING, replace, value
from stagec.ir.catalogue.lock import Effects, Lock
from stagec.ir.rights import Label, Teller
from stagec.sources.contract.schemas import Miss, Schema

__all__ = ["WELL_KNOWN", "Catalogue", "Effects", "Origin", "Server", "Tool", "ToolLabels", "well_known_effects"]


class Origin(StrEnum):
    """Where a tool comes from."""

    BUNDLED = "bundled"
    DISCOVERED = "discovered"
    MCP = "mcp"


_READING = ("Read", "Grep", "Glob")
_MUTATING = ("Edit", "Write", "Bash", "NotebookEdit")
WELL_KNOWN: Mapping[str, Effects] = {
    **{each: Effects.READ for name in _READING for each in (name, name.lower())},
    **{each: Effects.MUTATING for name in _MUTATING for each in (name, name.lower())},
}
"""Tools that most hosts bring along, and what calling them may do."""


def well_known_effects(name: str) -> Effects:
    """Return the effects of a tool of which only the name is known: what a few well-known names promise."""
    return WELL_KNOWN.get(name, Effects.UNKNOWN)


@value
class ToolLabels:
    """What somebody says that a tool reads and does; None where nothing is said.

    `changes` is what `effects: read` and `effects: mutating` say, which say nothing of what is sent.
    """

    reads: frozenset[Label] | None = None
    does: frozenset[Label] | None = None
    changes: bool | None = None
    at: Place | None = None
    teller: Teller = Teller.CATALOGUE


@value
class Tool:
    """One tool that can be called.

    `at` is where its name is written, `entry` all that is written about it; for a tool of an MCP server both are in
    the lock. `reference` is the schema file as written and `schema` what became of it; of a server's tool only the
    `digest` of its schema and that of its description, `described`, are known. `near` is the nearest name of a schema
    file that is there, when it is not. `command` is the argument vector of the program that carries calls out, if one
    does.
    """

    name: str
    at: Place
    entry: Place
    origin: Origin
    effects: Effects
    server: str | None = None
    reference: str | None = None
    schema: Schema | Miss | None = None
    digest: str | None = None
    described: str | None = None
    near: str | None = None
    description: str | None = None
    command: tuple[str, ...] = ()
    labels: ToolLabels | None = None
    """The reads and effects that its entry declares, if any."""


@value
class Server:
    """An MCP server: how it is started, or the address where it runs.

    `at` is all that is written about it. `cwd` is as written, relative to the folder of the file that names it.
    """

    name: str
    at: Place
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = NOTHING
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = NOTHING
    transport: str | None = None
    members: tuple[str, ...] = ()
    """What is written about it, by name, be it well formed or not."""

    def is_started_like(self, other: Server) -> bool:
        """Tell whether two definitions mean the same server."""
        return self == replace(other, name=self.name, at=self.at, members=self.members)


@value
class Catalogue:
    """The tools of a project, and how much of them is known.

    `tools` are all of them in the order of the files, those with a name that another has included; of these
    `by_name` has the first. `servers` are all that count, by name; `rivals` are further ones under a name that is
    taken. `unlocked` are the servers of which the lock says nothing, `stale` those that it knows started otherwise.
    Only when the catalogue `is_whole` can it be said that a name is not in it; it is not where a file is broken, a
    server not locked as it stands, or a `.mcp.json` all there is, which does not say what the host brings along.
    """

    at: Place
    file: str
    tools: tuple[Tool, ...]
    by_name: Mapping[str, Tool]
    names: NameIndex
    servers: Mapping[str, Server]
    rivals: tuple[Server, ...]
    servers_file: str | None
    lock_file: str
    lock: Lock | None
    unlocked: tuple[Server, ...]
    stale: tuple[Server, ...]
    serverless: tuple[tuple[Place, tuple[str, ...]], ...]
    """Files of MCP servers that have no member with servers, and the members they have."""
    faulty: frozenset[str]
    """The files of the catalogue with which something is wrong."""
    is_whole: bool
    labels: tuple[tuple[str, ToolLabels], ...] = ()
    """What the catalogue says of tools by patterns of their names, in this order."""

    def guess_meant(self, name: str) -> tuple[str, ...]:
        """Return the tool that a name means, which may be misspelt, or a server and its tool."""
        if name in self.by_name:
            return (name,)
        return foreign_name(name, self.servers) or (self.names.nearest(name) or name,)


_NO_LETTER = re.compile(r"[^\w-]")


def foreign_name(name: str, servers: Iterable[str]) -> tuple[str, str] | None:
    """Return the server and the tool that a name such as `mcp__files__read_file` or `files/read_file` means.

    The tool is empty, or `*`, where a name means all that the server offers.
    """
    for server in servers:
        for prefix in (f"mcp__{_NO_LETTER.sub('_', server)}", server):
            rest = name.removeprefix(prefix)
            tool = rest.lstrip("_/.:")
            if name.startswith(prefix) and (tool != rest or not rest):
                return server, tool
    return None
