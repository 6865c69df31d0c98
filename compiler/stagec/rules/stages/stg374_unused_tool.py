"""No stage uses some of the tools.

## Why this matters
Tools that nobody is allowed to call are dead weight in the catalogue; a server is started for nothing. Sometimes the
stage that was to use them has another name for them, or has lost it.

## How to fix
Allow the tool in the stage that needs it, or take it out of the catalogue. Bundled tools are not meant: what the host
brings along need not be used. Of the tools of an MCP server one is enough.
"""

import posixpath
from collections.abc import Iterator

from stagec.catalogue import Catalogue, Origin
from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule

_SHOWN = 8


@rule(since="0.1", origin=("rulings:tools",), severity=Severity.NOTE)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    catalogue = pipeline.catalogue
    if catalogue is None or not pipeline.is_whole or any(stage.allowed is None for stage in pipeline.stages):
        return
    beside = posixpath.dirname(catalogue.file) == posixpath.dirname(pipeline.at.file)
    if pipeline.tools is None and not beside:
        return
    names = dict.fromkeys(each.name for stage in pipeline.stages for each in stage.allowed or ())
    allowed = {meant for name in names for meant in catalogue.guess_meant(name)}
    tools, servers = dict(_tools(catalogue, allowed)), dict(_servers(catalogue, allowed))
    what = [listing(tools, "or")] if tools else []
    what += [f"any tool of MCP server{'s' if len(servers) > 1 else ''} {listing(servers)}"] if servers else []
    for first, *others in [[*tools.values(), *servers.values()]] if what else ():
        related = tuple(Related(at, "not used either") for at in others[:_SHOWN])
        yield Finding(first, f"no stage of {quote(pipeline.id)} uses {' or '.join(what)}", related)


def _tools(catalogue: Catalogue, allowed: set[str]) -> Iterator[tuple[str, Place]]:
    """Yield the project's own tools that no stage allows."""
    for tool in catalogue.tools:
        if tool.origin is Origin.DISCOVERED and tool.name not in allowed:
            yield tool.name, tool.at


def _servers(catalogue: Catalogue, allowed: set[str]) -> Iterator[tuple[str, Place]]:
    """Yield the servers of which no stage allows a tool, as far as their tools are known."""
    used = {tool.server for tool in catalogue.tools if tool.name in allowed}
    used |= allowed.intersection(catalogue.servers)
    used |= {server.name for server in (*catalogue.unlocked, *catalogue.stale)}
    yield from ((name, server.at.key) for name, server in catalogue.servers.items() if name not in used)
