"""References to variables in the definition of a server, such as `${TOKEN}` or `${TOKEN:-none}`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stagec.catalogue import Server
from stagec.core.value import replace

_REFERENCE = re.compile(r"\$\{([^{}]*)\}")
_KNOWN = re.compile(r"(?:env:)?(?P<name>[A-Za-z_]\w*)(?::-(?P<default>.*))?", re.DOTALL)


class UnsetVariableError(Exception):
    """A reference to a variable that nobody set; its text is the reference."""


def expand_variables(server: Server, variables: Mapping[str, str]) -> Server:
    """Return a server with the values of the variables that its definition refers to.

    `${NAME}` and `${NAME:-default}` are understood as hosts of agents do, `${env:NAME}` as editors do.
    """

    def value_of(match: re.Match[str]) -> str:
        known = _KNOWN.fullmatch(match[1])
        found = None if known is None else variables.get(known["name"]) or known["default"]
        if found is None:
            raise UnsetVariableError(match[0])
        return found

    def text(given: str | None) -> str | None:
        return None if given is None else _REFERENCE.sub(value_of, given)

    def texts(given: Mapping[str, str]) -> Mapping[str, str]:
        return {name: _REFERENCE.sub(value_of, each) for name, each in given.items()}

    args = tuple(_REFERENCE.sub(value_of, each) for each in server.args)
    changes = {name: text(getattr(server, name)) for name in ("command", "cwd", "url")}
    return replace(server, args=args, env=texts(server.env), headers=texts(server.headers), **changes)
