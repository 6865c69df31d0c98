"""Two MCP servers of one catalogue have the same name.

## Why this matters

The catalogue and the `.mcp.json` that counts beside it are read together. When both name a server and say different
things about it, stagec follows the catalogue, and other programs, which read `.mcp.json` only, start another one.

## How to fix

Keep one of the two definitions, make them equal, or give the servers different names.
"""

from collections.abc import Iterator

from stagec.catalogue import Catalogue
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.rules.tools import rule


@rule(since="0.1", origin=("stagec:tools",), severity=Severity.WARNING)
def check(catalogue: Catalogue) -> Iterator[Finding]:
    for rival in catalogue.rivals:
        first = catalogue.servers[rival.name]
        if not rival.is_started_like(first):
            message = f"MCP server {quote(rival.name)} is defined otherwise in {quote(first.at.file)}"
            yield Finding(rival.at.key, message, (Related(first.at.key, "this definition counts"),))
