"""The MCP servers of a plan while it runs: started, compared with the plan, called, started again, and ended."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AsyncExitStack
from threading import Lock
from typing import Any

from stagec.core.failure import Failure
from stagec.core.json import Json, Object
from stagec.core.json_reader import find_unreadable
from stagec.core.place import Place
from stagec.core.value import value
from stagec.core.version import __version__
from stagec.core.words import quote, shorten_digest
from stagec.ir.catalogue import CatalogueServer
from stagec.ir.catalogue.lock import digest
from stagec.ir.plan import document
from stagec.ir.plan.document import Plan
from stagec.runtime.world.event_loop import EventLoop
from stagec.runtime.world.mcp import (
    CLOSED,
    Transport,
    UnsetVariableError,
    describe_failure,
    expand_variables,
    explain_error,
    first_error,
    list_pages,
    open_transport,
    read_effects,
    read_message,
    refuse_rival,
    require_library,
)
from stagec.runtime.world.request_json import ToolDefinition
from stagec.runtime.world.tools.toolbox import ToolError

_DIGEST = "sha256:"
_MOST_TOLD, _MOST_SAID = 20, 100
"""Differences that are told one by one, and characters of a description that are shown."""


@value
class ServerLimits:
    """Seconds that a server may take: to start and list its tools, for one call, and before it is started again.

    The last doubles each time; a server is started so often in all.
    """

    start: float = 60
    call: float = 300
    again: float = 0.5
    starts: int = 5


class McpTools:
    """The tools of a plan that MCP servers have; an event loop in a thread of its own talks with all of them.

    Raises `Failure` when a server does not start, or offers another tool under a name than the plan was compiled with.
    """

    def __init__(self, plan: Plan, folder: str, limits: ServerLimits) -> None:
        require_library()
        self._loop = EventLoop()
        self._lock = Lock()
        self._under_way: dict[str, Future[Json]] = {}
        self._live = {name: LiveServer(_make_server(name, each), folder, limits) for name, each in plan.servers.items()}
        self._servers = {name: str(tool.server) for name, tool in plan.tools.items() if tool.server in self._live}
        self.names = tuple(self._servers)
        try:
            self._loop.submit(self._start(plan)).result()
        except BaseException:
            self.close()
            raise

    async def _start(self, plan: Plan) -> None:
        await asyncio.gather(*(each.start() for each in self._live.values()))
        drifted = [each for name in sorted(self._servers) for each in self._compare(name, plan.tools[name])]
        if drifted:
            raise Failure(
                f"MCP servers offer other tools than the plan has: {_tell(drifted)}; "
                "run 'stagec tools lock' and 'stagec compile' again"
            )

    def _compare(self, name: str, tool: document.Tool) -> Iterator[str]:
        """Yield how a tool differs from what the plan was compiled with, as far as the plan knows it."""
        offered = self._live[self._servers[name]].tools.get(name)
        if offered is None:
            yield f"{quote(name)} of {quote(self._servers[name])} is no longer offered"
            return
        if tool.digest is not None and tool.effects != offered.effects:
            yield f"{quote(name)} has other effects, {offered.effects} instead of {tool.effects}"
        now = f"{_DIGEST}{digest(offered.schema)}"
        if tool.digest is not None and tool.digest != now:
            instead = f"{shorten_digest(now)} instead of {shorten_digest(tool.digest)}"
            yield f"{quote(name)} has another input schema, {instead}"
        if tool.described is not None and tool.described != f"{_DIGEST}{digest(offered.description)}":
            said = offered.description[:_MOST_SAID]
            more = "…" if len(offered.description) > _MOST_SAID else ""
            yield f"{quote(name)} has another description, now {quote(said)}{more}"

    def define(self, name: str) -> ToolDefinition | None:
        """Return a tool as its server offers it."""
        server = self._servers.get(name)
        return None if server is None else self._live[server].tools.get(name)

    def call(self, key: str, tool: str, arguments: Object) -> Json:
        """Return the result of a call; a call that was interrupted is not made again."""
        future: Future[Json] = self._loop.submit(self._live[self._servers[tool]].call(key, tool, arguments))
        with self._lock:
            self._under_way[key] = future
        try:
            return future.result()
        except CancelledError as error:
            raise ToolError("the call was cancelled") from error
        finally:
            with self._lock:
                self._under_way.pop(key, None)

    def cancel(self, key: str) -> None:
        """End a call."""
        with self._lock:
            future = self._under_way.get(key)
        if future is not None:
            future.cancel()

    def close(self) -> None:
        """End every server, and the event loop."""
        self._loop.close(self._stop(), _PATIENCE)

    async def _stop(self) -> None:
        await asyncio.gather(*(each.stop() for each in self._live.values()), return_exceptions=True)


def _tell(differences: Sequence[str]) -> str:
    more = len(differences) - _MOST_TOLD
    return "; ".join((*differences[:_MOST_TOLD], *([f"{more:,} more"] if more > 0 else [])))


_PATIENCE = 10.0
"""Seconds in which all servers must have ended."""


class LiveServer:
    """One server: a task holds the connection, and begins a new one when the old one has broken."""

    def __init__(self, server: CatalogueServer, folder: str, limits: ServerLimits) -> None:
        self.tools: Mapping[str, ToolDefinition] = {}
        self._server, self._folder, self._limits = server, folder, limits
        self._starts = 0
        self._refused: str | None = None
        self._client: Any = None
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the server and learn its tools, or raise `Failure`."""
        self._starts += 1
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._over = asyncio.Event()
        task = self._task = asyncio.create_task(self._hold(ready, self._over))
        await asyncio.wait((ready, task), return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            ready.cancel()
            raise self._explain_start(task.exception())

    def _explain_start(self, error: BaseException | None) -> Failure:
        """Return why the server did not start; the library puts what leaves a connection into groups."""
        cause = None if error is None else first_error(error)
        return cause if isinstance(cause, Failure) else Failure(f"MCP server {quote(self._server.name)}: {cause}")

    async def stop(self) -> None:
        """End the server."""
        self._over.set()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def call(self, key: str, tool: str, arguments: Object) -> Json:
        """Return the result of a call, or raise `ToolError`."""
        if self._client is None:
            await self._start_again()
        meta: Any = {"stagec/idempotencyKey": key}
        try:
            result = await self._client.call_tool(
                tool, dict(arguments), read_timeout_seconds=self._limits.call, meta=meta
            )
        except asyncio.CancelledError:
            raise
        except Exception as error:
            raise await self._explain(error) from error
        return _read_result(result)

    async def _explain(self, error: Exception) -> ToolError:
        """Return why a call came to nothing; a connection that has broken is given up."""
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        cause = first_error(error)
        if isinstance(cause, MCPError) and cause.code == REQUEST_TIMEOUT:
            seconds = self._limits.call
            return ToolError(f"there was no answer in {seconds:g} s; whether it was carried out is not known")
        if isinstance(cause, MCPError) and (cause.code != CONNECTION_CLOSED or cause.message != CLOSED):
            return ToolError(f"the server answered with error {cause.code}: {read_message(cause)}")
        self._client = None
        await self.stop()
        return ToolError("the server ended during the call; whether it was carried out is not known")

    async def _start_again(self) -> None:
        if self._refused is not None:
            raise ToolError(self._refused)
        if self._starts >= self._limits.starts:
            raise ToolError(f"the server has ended {self._starts} times and is not started again")
        await asyncio.sleep(self._limits.again * 2 ** (self._starts - 1))
        known = self.tools
        try:
            await self.start()
        except Failure as failure:
            raise ToolError(str(failure)) from failure
        changed = list(_list_changes(known, self.tools))
        if changed:
            self.tools = known  # what a model was told stays what it was told
            await self.stop()
            self._refused = f"the server was started again and offers other tools: {_tell(changed)}"
            raise ToolError(self._refused)

    async def _hold(self, ready: asyncio.Future[None], over: asyncio.Event) -> None:
        """Hold a connection open until it is over: what opened it must close it."""
        try:
            async with AsyncExitStack() as opened:
                self._client = await self._open(opened)
                ready.set_result(None)
                await over.wait()
        finally:
            self._client = None

    async def _open(self, opened: AsyncExitStack) -> Any:
        """Open a connection in the way that servers of today understand, else in that of tomorrow; list the tools."""
        from mcp import Client, Implementation

        meant, who = self._expand(), Implementation(name="stagec", version=__version__)
        for mode in ("legacy", "auto"):
            transport = open_transport(meant, self._folder)
            try:
                async with asyncio.timeout(self._limits.start):
                    new = Client(transport, mode=mode, cache=None, client_info=who)
                    client = await opened.enter_async_context(new)
                    self.tools = await _list_tools(client)
            except Exception as error:
                if mode == "auto" or not _is_of_tomorrow(error):
                    raise _refuse(meant, transport, error) from error
            else:
                return client
        raise AssertionError(meant)

    def _expand(self) -> CatalogueServer:
        try:
            return expand_variables(self._server, os.environ)
        except UnsetVariableError as unset:
            raise Failure(
                f"MCP server {quote(self._server.name)} refers to {quote(str(unset))}, which is not set"
            ) from unset


def _is_of_tomorrow(error: Exception) -> bool:
    """Tell whether a server speaks a later version of the protocol alone."""
    from mcp_types import UNSUPPORTED_PROTOCOL_VERSION

    return getattr(first_error(error), "code", None) == UNSUPPORTED_PROTOCOL_VERSION


def _refuse(server: CatalogueServer, transport: Transport, error: Exception) -> Failure:
    what = "did not list its tools in time" if isinstance(error, TimeoutError) else explain_error(error, transport)
    found = describe_failure(server, transport, what)
    return Failure("\n  ".join((f"MCP server {quote(server.name)} {found.what}", *found.said)))


async def _list_tools(client: Any) -> Mapping[str, ToolDefinition]:
    found: dict[str, ToolDefinition] = {}
    async for page in list_pages(client):
        for tool in page:
            effects = read_effects(tool.annotations)
            new = ToolDefinition(tool.name, tool.description or "", tool.input_schema, str(effects))
            refuse_rival(found.setdefault(tool.name, new), new)
    return found


def _list_changes(before: Mapping[str, ToolDefinition], after: Mapping[str, ToolDefinition]) -> Iterator[str]:
    """Yield how the tools of a server differ from those at its first start."""
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            yield f"{quote(name)} is {'new' if old is None else 'no longer offered'}"
            continue
        parts = [each for each in ("description", "schema", "effects") if getattr(old, each) != getattr(new, each)]
        if parts:
            yield f"{quote(name)} has another {' and '.join(parts)}"


def _read_result(result: Any) -> Json:
    """Return the answer of a tool, in structured form or as text; raise `ToolError` for a fault."""
    texts = [each.text if each.type == "text" else f"[{each.type}]" for each in result.content]
    if result.is_error:
        raise ToolError("\n".join(texts) or "the tool failed and did not say why")
    structured: Json = result.structured_content
    found = find_unreadable(structured)
    if found is not None:
        raise ToolError(f"the result cannot be read: {found}")
    return "\n".join(texts) if structured is None else structured


def _make_server(name: str, given: document.Server) -> CatalogueServer:
    """Return a server as the plan has it; the values of its variables and headers come from the environment."""
    env = {each: f"${{{each}}}" for each in given.environment}
    headers = {each: f"${{{name_header(name, each)}}}" for each in given.headers}
    at = Place("plan", ("servers", name))
    return CatalogueServer(name, at, given.command, given.args, env, given.cwd, given.url, headers)


def name_header(server: str, header: str) -> str:
    """Return the variable that holds a header of a server: `STAGEC_HEADER_SERVER_NAME`."""
    return "_".join(("STAGEC", "HEADER", _make_name(server), _make_name(header)))


def _make_name(text: str) -> str:
    """Return a text as a part of the name of a variable."""
    return "".join(each if each.isalnum() else "_" for each in text).upper()
