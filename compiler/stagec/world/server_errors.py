"""Why a server did not answer, in words: what its process, the library or the network said."""

from __future__ import annotations

import os
from typing import Any

from stagec.catalogue import Server
from stagec.core.secrets import Redactor
from stagec.core.value import value
from stagec.core.words import quote
from stagec.world.remote_server import RemoteServer
from stagec.world.server_process import UNREADABLE, WHY, ServerProcess

Transport = ServerProcess | RemoteServer

_LINES = 12
"""Lines of a server's standard error that are shown."""
_LONGEST = 300
"""Characters of one of them."""
_WHOLE = 10_000
"""Bytes in which secrets are looked for, so that none is cut in two."""


@value
class ServerFailure:
    """A server that did not answer: what went wrong, and the last lines of its standard error."""

    server: Server
    what: str
    said: tuple[str, ...] = ()


class SenselessListError(Exception):
    """A list of tools that cannot be used; its text says why, as what the server does."""


def describe_failure(server: Server, transport: Transport, what: str) -> ServerFailure:
    """Return what is known of a server that did not answer."""
    redacted = Redactor(os.environ, server.env, server.headers).redact_output
    what = redacted(what)
    if isinstance(transport, RemoteServer):
        what = transport.excess or what
        return ServerFailure(server, what if transport.refusal is None else f"{what} (HTTP status {transport.refusal})")
    if transport.strange is not None:
        shown = redacted(transport.strange[:_WHOLE].decode(errors="replace"))[:_LONGEST]
        what = f"{what}; what it wrote to its standard output is not MCP: {quote(shown)}"
    lines = redacted(transport.errors.decode(errors="replace")).splitlines()
    return ServerFailure(server, what, tuple(_shorten(line) for line in lines if line.strip())[-_LINES:])


CLOSED = "Connection closed"
"""What the library says of a connection that has broken, with a code that servers use for errors of their own, too."""
_UNREAD = "Failed to parse "
"""How the library begins what it says of an event that it cannot read."""


def read_message(error: Any) -> str:
    """Return what an error of a server says; of an answer that cannot be read, that alone."""
    return WHY if error.code == UNREADABLE and error.message.startswith(_UNREAD) else str(error.message)


def explain_error(error: BaseException, transport: Transport) -> str:
    """Return what an error means, to be read behind the name of the server."""
    from mcp import MCPError
    from mcp_types import CONNECTION_CLOSED

    cause = first_error(error)
    if isinstance(cause, SenselessListError):
        return str(cause)
    if isinstance(cause, MCPError) and (cause.code != CONNECTION_CLOSED or cause.message != CLOSED):
        return f"answered with error {cause.code}: {_shorten(read_message(cause))}"
    if isinstance(cause, MCPError):
        if isinstance(transport, RemoteServer) or transport.status is None:
            return "closed the connection before it answered"
        return f"ended with status {transport.status} before it answered"
    if isinstance(cause, OSError) and isinstance(transport, ServerProcess):
        return f"cannot be started: {cause.strerror or cause}: {quote(cause.filename or transport.program)}"
    wrong = "cannot be reached" if isinstance(transport, RemoteServer) else "did not answer as MCP requires"
    return f"{wrong}: {_shorten(f'{type(cause).__name__}: {cause}')}"


def first_error(error: BaseException) -> BaseException:
    """Return the first error of a group, as those come from tasks that run together, else the error itself."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _shorten(line: str) -> str:
    first = " ".join(line.split())
    return first if len(first) <= _LONGEST else f"{first[:_LONGEST]}…"
