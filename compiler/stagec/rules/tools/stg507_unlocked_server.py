"""The lock of tools knows nothing of an MCP server.

## Why this matters

stagec never starts a server to check a project. What a server offers is known only from the lock; without it, tools
that no server offers and completion tools that have the name of a server's tool go unnoticed.

## How to fix

Run `stagec tools lock`, which starts the servers once and writes `tools.lock.json`, and keep that file with the
sources.
"""

from collections.abc import Iterator

from stagec.catalogue import Catalogue
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.rules.tools import rule


@rule(since="0.1", origin=("stage-definitions:allowed-tools-unknown",), severity=Severity.NOTE)
def check(catalogue: Catalogue) -> Iterator[Finding]:
    unlocked = [each for each in catalogue.unlocked if each.command is not None or each.url is not None]
    if not unlocked or catalogue.lock_file in catalogue.faulty:
        return
    first, *others = unlocked
    names = listing([each.name for each in unlocked])
    who = f"MCP servers {names} offer" if others else f"MCP server {names} offers"
    related = tuple(Related(each.at.key, "not locked either") for each in others)
    yield Finding(first.at.key, f"what {who} is not known: {quote(catalogue.lock_file)} does not say it", related)
