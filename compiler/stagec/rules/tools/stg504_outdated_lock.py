"""The lock of tools does not belong to the servers that the catalogue names.

## Why this matters

The lock stands for what the servers offer. When a server is started in another way than when it was locked, such as
in another version, it may offer other tools; then stagec no longer knows which, and says nothing of names that are
not among the known ones.

## How to fix

Run `stagec tools lock` and keep the new lock with the sources.
"""

from collections.abc import Iterator

from stagec.catalogue import Catalogue
from stagec.core.diagnostic import Severity
from stagec.core.nearest import NameIndex, hint
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.rules.tools import rule


@rule(since="0.1", origin=("stagec:tools",), severity=Severity.WARNING)
def check(catalogue: Catalogue) -> Iterator[Finding]:
    locked = {} if catalogue.lock is None else catalogue.lock.servers
    for server in catalogue.stale:
        message = f"MCP server {quote(server.name)} is not started as it was when its tools were locked"
        yield Finding(server.at.key, message, (Related(locked[server.name].at / "launch", "the lock"),))
    known = NameIndex(catalogue.servers)
    for name in () if catalogue.faulty - {catalogue.lock_file} else locked:
        if name not in catalogue.servers:
            message = f"the catalogue names no MCP server {quote(name)} any more{hint(name, known)}"
            yield Finding(locked[name].at.key, message)
