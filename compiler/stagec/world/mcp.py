"""The door to the MCP library: start servers, ask each for all its tools, and end them."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import partial
from typing import Any

from stagec.catalogue import Effects, LockedServer, LockedTool, Server
from stagec.catalogue.lock import digest
from stagec.catalogue.read import launch_digest
from stagec.core.extras import explain_missing_extra
from stagec.core.interrupts import HeldRequests
from stagec.core.value import replace, value
from stagec.core.version import __version__
from stagec.core.words import format_count, quote
from stagec.world.remote_server import RemoteServer
from stagec.world.request_json import ToolDefinition
from stagec.world.server_errors import (
    SenselessListError,
    ServerFailure,
    Transport,
    describe_failure,
    explain_error,
    first_error,
)
from stagec.world.server_process import ServerProcess
from stagec.world.supervisor_link import Job

_AT_ONCE = 8
"""Servers that run at the same time."""
_MOST_PAGES = 10_000
_MOST_TOOLS = 100_000
_LONGEST = 64_000_000
"""No server has so many, and so many characters in all of them; one that goes on has lost its way."""


@value
class Question:
    """A server to ask: the folder of the file that names it, and the seconds it may take in all."""

    server: Server
    folder: str
    timeout: float

    async def answer(self, report: Progress) -> Answer:
        """Return what the server offers, or why it does not answer."""
        server = self.server
        if (unfit := _unfit(server)) is not None:
            return ServerFailure(server, unfit)
        try:
            meant = expand_variables(server, os.environ)
        except UnsetVariableError as unset:
            return ServerFailure(server, f"refers to {quote(unset)}, which is not set")
        transport = open_transport(meant, self.folder)
        report(server, 0)
        try:
            async with asyncio.timeout(self.timeout):
                tools = await _tools(meant, transport, lambda number: report(server, number))
        except TimeoutError:
            unit = "second" if self.timeout == 1 else "seconds"
            return describe_failure(meant, transport, f"did not answer within {self.timeout:g} {unit}")
        except Exception as error:
            return describe_failure(meant, transport, explain_error(error, transport))
        return LockedServer(server.name, server.at, launch_digest(server), tools)


Answer = LockedServer | ServerFailure
Progress = Callable[[Server, int], None]
"""Called with a server and how many tools it has named so far: when it is started, and after every page."""
Finish = Callable[[Server, int | None], None]
"""Called with a server and how many tools it has, or nothing when it did not answer."""


def ask(questions: Iterable[Question], report: Progress, finish: Finish) -> tuple[Answer, ...]:
    """Ask servers for their tools, several at a time, and return the answers in the order of the questions.

    Raise `Failure` when the library is not installed. No server is left running, however this function ends.
    """
    require_library()
    try:
        return asyncio.run(_ask_unless_interrupted(tuple(questions), report, finish))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def require_library() -> None:
    """Raise `Failure` when the library is not installed; keep it from logging what is told in our own words."""
    import logging

    try:
        import mcp
    except ImportError as error:
        raise explain_missing_extra("asking MCP servers needs", "mcp") from error
    for name in (mcp.__name__, *_LOGGERS):
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False  # what went wrong is told once, in our own words


_LOGGERS = ("client",)
"""Names that the library logs under besides its own."""


async def _ask_unless_interrupted(
    questions: tuple[Question, ...], report: Progress, finish: Finish
) -> tuple[Answer, ...]:
    """Ask; a request to end this process cancels that, so that every server is ended before it is obeyed."""
    work = asyncio.create_task(_ask_all(questions, report, finish))
    with HeldRequests(partial(asyncio.get_running_loop().call_soon_threadsafe, work.cancel)):
        return await work


async def _ask_all(questions: tuple[Question, ...], report: Progress, finish: Finish) -> tuple[Answer, ...]:
    turn = asyncio.Semaphore(_AT_ONCE)

    async def one(question: Question) -> Answer:
        async with turn:
            answer = await question.answer(report)
        finish(question.server, len(answer.tools) if isinstance(answer, LockedServer) else None)
        return answer

    return tuple(await asyncio.gather(*map(one, questions)))


def _unfit(server: Server) -> str | None:
    if server.command is None and server.url is None:
        return "has neither a 'command' nor a 'url'"
    return (
        f"is of type {quote(server.transport)}, which stagec does not support" if server.transport in _OTHERS else None
    )


_OTHERS = {"sse", "ws"}
"""Transports that came before HTTP as it is now, or never became part of the protocol."""


def open_transport(server: Server, folder: str) -> Transport:
    """Return how a server is reached: as a process that starts in a folder, or by its address."""
    from mcp.client.stdio import get_default_environment

    if server.command is None:
        return RemoteServer(server.url or "", server.headers)
    environment = {**get_default_environment(), **server.env}
    folder = os.path.join(folder, server.cwd or "")
    return ServerProcess(Job((server.command, *server.args), environment, folder or "."))


async def _tools(server: Server, transport: Transport, report: Callable[[int], None]) -> dict[str, LockedTool]:
    """Ask in the way that servers of today understand, and in the way of tomorrow those that know no other."""
    from mcp_types import UNSUPPORTED_PROTOCOL_VERSION

    try:
        return await _list(server, transport, "legacy", report)
    except Exception as error:
        if getattr(first_error(error), "code", None) != UNSUPPORTED_PROTOCOL_VERSION:
            raise
    return await _list(server, transport, "auto", report)


async def _list(
    server: Server, transport: Transport, mode: str, report: Callable[[int], None]
) -> dict[str, LockedTool]:
    """Return every tool of a server, page by page."""
    from mcp import Client, Implementation

    found: dict[str, LockedTool] = {}
    who = Implementation(name="stagec", version=__version__)
    async with Client(transport, mode=mode, cache=None, client_info=who) as client:
        async for page in list_pages(client):
            for tool in page:
                is_open = None if tool.annotations is None else tool.annotations.open_world_hint
                effects, text = read_effects(tool.annotations), digest(tool.description or "")
                new = LockedTool(tool.name, server.at, effects, digest(tool.input_schema), is_open, text)
                refuse_rival(found.setdefault(tool.name, new), new)
            report(len(found))
    return found


def read_effects(annotations: Any) -> Effects:
    """Return what a server says that calling a tool may do."""
    hint = None if annotations is None else annotations.read_only_hint
    return Effects.UNKNOWN if hint is None else Effects.READ if hint else Effects.MUTATING


async def list_pages(client: Any) -> AsyncIterator[Any]:
    """Yield the tools page by page; a server that does not say that it has tools is not asked for any."""
    cursor: str | None = None
    seen: set[str] = set()
    number = length = 0
    while client.server_capabilities.tools is not None and len(seen) < _MOST_PAGES:
        page = await client.list_tools(cursor=cursor)
        cursor, number = page.next_cursor, number + len(page.tools)
        length += len(cursor or "") + sum(map(_measure, page.tools))
        if number > _MOST_TOOLS or length > _LONGEST:
            excess = f"{_MOST_TOOLS:,} tools" if number > _MOST_TOOLS else f"{_LONGEST:,} characters"
            raise SenselessListError(f"lists its tools without end: there are more than {excess}")
        yield page.tools
        if not cursor:
            return
        if cursor in seen:
            raise SenselessListError(f"lists its tools without end: the page {quote(cursor)} is repeated")
        seen.add(cursor)
    if seen:
        raise SenselessListError(
            f"lists its tools without end: there are more than {format_count(_MOST_PAGES, 'page')}"
        )


def _measure(tool: Any) -> int:
    """Return about how many characters a tool has."""
    return len(tool.name) + len(tool.description or "") + len(str(tool.input_schema))


def refuse_rival(first: LockedTool | ToolDefinition, tool: LockedTool | ToolDefinition) -> None:
    """Raise `SenselessListError` for a tool that differs from the first one of its name."""
    if first != tool:
        raise SenselessListError(f"lists two different tools {quote(tool.name)}")


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
