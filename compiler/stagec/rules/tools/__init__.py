"""STG5xx: what a catalogue of tools says by itself: names, schemas, servers and their lock."""

from stagec.catalogue import Catalogue, LockedServer, Origin, Server, Tool
from stagec.catalogue.read import ADDRESSES
from stagec.contract.schemas import Miss, Schema
from stagec.core.diagnostic import Severity
from stagec.core.nearest import Names, hint
from stagec.core.place import Place
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import counted, listing, quote

__all__ = [
    "ADDRESSES",
    "Catalogue",
    "Finding",
    "LockedServer",
    "Miss",
    "Names",
    "Origin",
    "Place",
    "Related",
    "Schema",
    "Server",
    "Severity",
    "Tool",
    "counted",
    "hint",
    "listing",
    "namesakes",
    "offered_by",
    "quote",
    "rule",
]

FAMILY = Family(__name__, 500, Catalogue)
rule = FAMILY.rule


def namesakes(catalogue: Catalogue) -> tuple[tuple[Tool, Tool], ...]:
    """Return every tool whose name an earlier one has, with that one."""
    if len(catalogue.by_name) == len(catalogue.tools):
        return ()
    firsts = ((catalogue.by_name[tool.name], tool) for tool in catalogue.tools)
    return tuple((first, tool) for first, tool in firsts if first is not tool)


def offered_by(tool: Tool) -> str:
    """Return where a tool comes from, in words: `bundled`, `MCP server 'files'`."""
    return str(tool.origin) if tool.server is None else f"MCP server {quote(tool.server)}"
