"""The definition of an MCP server holds a secret itself.

## Why this matters

Whoever can read the file can use the secret, and so can whoever reads the history of the repository. Arguments of
programs are visible to every user of the machine.

## How to fix

Keep the secret in a variable of the environment, and refer to it: `${TOKEN}` in `args`, `env`, `url` and `headers`.
Give programs their secrets in `env`, not in `args`. Replace the secret: it has been written down.
"""

from collections.abc import Iterator

from stagec.catalogue import Catalogue, Server
from stagec.catalogue.read import ADDRESSES
from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.secrets import has_literal_secret, is_literal_secret, literal_arguments
from stagec.core.words import quote
from stagec.rules.tools import rule


@rule(since="0.1", origin=("stagec:tools",), severity=Severity.WARNING)
def check(catalogue: Catalogue) -> Iterator[Finding]:
    for server in catalogue.servers.values():
        for place, part in _parts(server):
            told = f"{part} of MCP server {quote(server.name)} holds a secret; refer to a variable instead: '${{NAME}}'"
            yield Finding(place, told)


def _parts(server: Server) -> Iterator[tuple[Place, str]]:
    """Yield where a secret is written, and what that is called; never the secret."""
    for at in literal_arguments(server.args):
        yield server.at / "args" / at, f"argument {at + 1}"
    for member, given in (("env", server.env), ("headers", server.headers)):
        for name, each in given.items():
            if is_literal_secret(name, each):
                yield server.at / member / name, f"{quote(name)} in '{member}'"
    if server.url is not None and has_literal_secret(server.url):
        key = next((each for each in ADDRESSES if each in server.members), ADDRESSES[0])
        yield server.at / key, f"the {quote(key)}"
