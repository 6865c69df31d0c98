"""STG50x to STG54x: what a catalogue of tools says by itself: names, schemas, servers and their lock."""

from stagec.catalogue import Catalogue, Tool
from stagec.core.rule import Family
from stagec.core.words import quote

FAMILY = Family(__name__, (range(500, 550),), Catalogue)
rule = FAMILY.rule


def namesakes(catalogue: Catalogue) -> tuple[tuple[Tool, Tool], ...]:
    """Return every tool whose name an earlier one has, with that one."""
    if len(catalogue.by_name) == len(catalogue.tools):
        return ()
    firsts = ((catalogue.by_name[tool.name], tool) for tool in catalogue.tools)
    return tuple((first, tool) for first, tool in firsts if first is not tool)


def name_origin(tool: Tool) -> str:
    """Return where a tool comes from, in words: `bundled`, `MCP server 'files'`."""
    return str(tool.origin) if tool.server is None else f"MCP server {quote(tool.server)}"
