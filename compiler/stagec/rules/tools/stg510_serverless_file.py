"""A file of MCP servers names none.

## Why this matters

Programs look for servers under the key `mcpServers`, and Visual Studio under `servers`. Under any other key, and at
the top of the file, nobody finds them.

## How to fix

Put the servers under `mcpServers`, by name.
"""

from collections.abc import Iterator

from stagec.catalogue import Catalogue
from stagec.core.diagnostic import Severity
from stagec.core.guess import guess
from stagec.core.nearest import NameIndex
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.tools import rule

_KEYS = NameIndex(("mcpServers",))


@rule(since="0.1", origin=("stagec:tools",), severity=Severity.WARNING)
def check(catalogue: Catalogue) -> Iterator[Finding]:
    for at, keys in catalogue.serverless:
        misspelt = next((key for key in keys if _KEYS.nearest(key) is not None), None)
        place = at if misspelt is None else (at / misspelt).key
        doubt = "" if misspelt is None else f"; is it {quote(misspelt)}, misspelt?"
        message = f"{quote(at.file)} has no 'mcpServers'{doubt}"
        yield Finding(place, message, fix=guess(misspelt, _KEYS) if misspelt is not None else None)
