"""The door to the MCP library: the processes of servers, requests for all tools of each, and their ends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack, suppress
from functools import partial
from types import TracebackType
from typing import Any, cast

from stagec.core.extras import explain_missing_extra
from stagec.core.interrupts import HeldRequests
from stagec.core.secrets import Redactor
from stagec.core.value import replace, value
from stagec.core.version import __version__
from stagec.core.words import format_count, quote
from stagec.ir.catalogue import CatalogueServer, Effects, LockedServer, LockedTool
from stagec.ir.catalogue.lock import digest
from stagec.ir.catalogue.read import launch_digest
from stagec.runtime.world.http_bodies import PLAIN, BodyGuard, ExcessiveBodyError
from stagec.runtime.world.request_json import ToolDefinition
from stagec.runtime.world.supervised_program import Job, Link

_CHUNK = 65_536
_LONGEST_LINE = 16_000_000
"""Bytes of one message; a page of ten thousand tools has a few million."""
_MOST_BYTES = 1_000_000_000
"""Bytes of a message that is passed over; a server that sends more is not heard any more."""
_ENDS = 512
"""Bytes at each end of a message that is too long, among which its id is looked for."""
_ID = re.compile(
    rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,18})\s*,|"id"\s*:\s*(\d{1,18})\s*\}\s*$'
)
"""The id of a message, as its first members or as its last one, where no text can stand that a tool has made."""
_MOST_OPEN = 100
"""Requests of a server that are not answered yet; it is not heard until it has taken some answers."""
_KEPT = 16_384
"""Bytes of standard error that are kept, from its end."""
_PATIENCE = 2.0
"""Seconds a server may take to end by itself once its standard input is closed, and again once it is asked to."""
_SHORT = 0.2
"""Seconds instead of them when stagec itself was asked to end."""


class ServerProcess:
    """A transport of the SDK: entering starts the process, leaving ends it and every process it started.

    `strange` is the first line on its standard output that is no message, `errors` the end of its standard error,
    `status` the exit status of a process that ended by itself.
    """

    def __init__(self, job: Job) -> None:
        self.strange: bytes | None = None
        self.errors = b""
        self.status: int | None = None
        self._job = job
        self._link: Link
        self._process: Process | None = None
        self._tasks: tuple[asyncio.Task[None], ...] = ()
        self._streams: tuple[Any, ...] = ()
        self._room = asyncio.Semaphore(_MOST_OPEN)

    @property
    def program(self) -> str:
        """The name of the program."""
        return self._job.words[0]

    async def __aenter__(self) -> tuple[Any, Any]:
        from anyio import create_memory_object_stream

        process = self._process = await self._start()
        arrived, incoming = create_memory_object_stream[Any](0)
        outgoing, sent = create_memory_object_stream[Any](0)
        self._streams = (arrived, incoming, outgoing, sent)
        work: tuple[Coroutine[Any, Any, None], ...] = (
            self._receive(cast("StreamReader", process.stdout), arrived),
            self._send(cast("StreamWriter", process.stdin), sent),
            self._keep_errors(cast("StreamReader", process.stderr)),
        )
        self._tasks = tuple(asyncio.create_task(each) for each in work)
        return incoming, outgoing

    async def _start(self) -> Process:
        """Start the supervisor and wait until it has started the program; raise `OSError` when it could not."""
        job, link = self._job, Link()
        self._link = link  # a transport may be entered again, for another way to ask
        process = await asyncio.create_subprocess_exec(*link.command, **link.arrange(job))
        try:
            link.begin(job)
            while not link.is_started and await self._news():
                pass
            link.refuse_error()
        except BaseException:
            link.close()
            await process.communicate()
            raise
        return process

    async def _news(self) -> bool:
        """Wait for the next thing that the supervisor tells; return whether more may come."""
        self._link.socket.setblocking(False)
        try:
            return self._link.take(await asyncio.get_running_loop().sock_recv(self._link.socket, _CHUNK))
        except OSError:  # it was killed
            return False

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        from anyio import CancelScope

        if self._process is None:
            return
        patience = 0 if kind is asyncio.CancelledError else _PATIENCE
        with CancelScope(shield=True):
            for stream in self._streams:
                stream.close()
            self._room.release()  # what is still to come is read, and goes nowhere
            try:
                self.status = await self._end(self._process, patience)
            finally:
                await self._settle(patience)

    async def _end(self, process: Process, patience: float) -> int | None:
        """Close the standard input and wait, ask, kill; return the status of a program that ended without being asked.

        Whatever is left of what it started is killed as well.
        """
        if process.stdin is not None:
            process.stdin.close()
        try:
            await self._over(patience)
            status = self._link.status
            if status is None:
                self._link.signal(signal.SIGTERM)
                await self._over(patience / 2 or _SHORT)
        finally:
            self._link.close()
        await _wait_for_end(process)
        self._link.kill_orphans(process.returncode)
        return status

    async def _over(self, patience: float) -> None:
        """Wait for the end of the program."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                while self._link.status is None and await self._news():
                    pass

    async def _settle(self, patience: float) -> None:
        """Let what the process still had to say arrive, then stop listening."""
        await asyncio.wait(self._tasks, timeout=patience or _SHORT)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _receive(self, output: StreamReader, arrived: Any) -> None:
        """Hand over messages until the output ends, has an endless line, or nobody listens; then let it run out."""
        from anyio import BrokenResourceError, ClosedResourceError
        from mcp.shared.message import SessionMessage

        with arrived, suppress(BrokenResourceError, ClosedResourceError):
            async for line in _lines(output):
                message = self._read(line)
                if message is not None:
                    await self._hand_over(SessionMessage(message), arrived)
        while await output.read(_CHUNK):
            pass

    def _read(self, line: bytes) -> Any:
        """Return the message in a line, an error in the place of an answer that cannot be read, or nothing."""
        from mcp_types import jsonrpc_message_adapter

        try:
            return jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            refusal = _refuse_answer(line)
        if refusal is not None:
            return jsonrpc_message_adapter.validate_json(refusal, by_name=False)
        self.strange = self.strange or line.strip() or None
        return None

    async def _hand_over(self, message: Any, arrived: Any) -> None:
        if _is_request(message.message):
            await self._room.acquire()
        await arrived.send(message)

    async def _send(self, given: StreamWriter, sent: Any) -> None:
        from anyio import ClosedResourceError

        with suppress(OSError, ClosedResourceError):
            async for each in sent:
                given.write(each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await given.drain()
                if not hasattr(each.message, "method"):  # an answer
                    self._room.release()

    async def _keep_errors(self, output: StreamReader) -> None:
        while chunk := await output.read(_CHUNK):
            self.errors = (self.errors + chunk)[-_KEPT:]


def _is_request(message: Any) -> bool:
    return hasattr(message, "method") and hasattr(message, "id")


async def _lines(output: StreamReader) -> AsyncIterator[bytes]:
    """Yield the lines of an output; one that is too long is what it would be if the server had refused it."""
    line = _Line()
    while line.length < _MOST_BYTES and (chunk := await output.read(_CHUNK)):
        first, *others = chunk.split(b"\n")
        line.add(first)
        for each in others:
            yield line.take()
            line.add(each)
        if line.is_strange:
            break
    if line.length >= _LONGEST_LINE:
        yield line.take()


class _Line:
    """The bytes of one line, as far as they are kept: all, or both ends of one that is too long."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.length = 0
        self._parts: list[bytes] = []
        self._begin = self._end = b""

    @property
    def is_strange(self) -> bool:
        """Whether the line is too long for a message, and does not begin like one."""
        return self.length >= _LONGEST_LINE and not self._begin.startswith(b"{")

    def add(self, piece: bytes) -> None:
        """Take a piece of the line."""
        self.length += len(piece)
        if self.length < _LONGEST_LINE:
            self._parts.append(piece)
        else:
            self._parts.clear()
        self._begin += piece[: _ENDS - len(self._begin)]
        self._end = (self._end + piece)[-_ENDS:]

    def take(self) -> bytes:
        """Return the line, and begin the next one."""
        is_whole = self.length < _LONGEST_LINE
        line = b"".join(self._parts) if is_whole else self._refuse()
        self._clear()
        return line

    def _refuse(self) -> bytes:
        """Return an error in the place of an answer that is too long; one without an id is no message."""
        found = _ID.search(self._begin) or _ID.search(self._end)
        if found is None:
            return self._begin
        why = f"the answer has more than {_LONGEST_LINE:,} bytes"
        return write_refusal(int(found[1] or found[2]), TOO_LONG, why)


TOO_LONG, UNREADABLE = -32000, -32700
"""The codes of errors that a server defines itself, and of texts that are not JSON."""
WHY = "the answer cannot be read as JSON-RPC"


def write_refusal(number: int, code: int, why: str) -> bytes:
    """Return an error in the place of the answer to a request."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": why}}).encode()


def _refuse_answer(line: bytes) -> bytes | None:
    """Return an error in the place of an answer that the library cannot read; None if the line is no answer."""
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        found = _ID.search(line[:_ENDS]) or _ID.search(line[-_ENDS:])
        number = None if found is None else int(found[1] or found[2])
    else:
        is_answer = isinstance(given, dict) and "method" not in given
        number = given.get("id") if is_answer else None
    return write_refusal(number, UNREADABLE, WHY) if type(number) is int else None


async def _wait_for_end(process: Process) -> None:
    """Wait until the supervisor has killed everything: asyncio kills what is not awaited, and others would be left.

    Whoever has no time for that ends stagec itself, and then the supervisor goes on alone.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            await process.wait()


_REFUSED = 400
"""HTTP statuses from here on are refusals."""
_REMOTE_SERVER_LONGEST = 16_000_000
"""Bytes of one answer; a page of ten thousand tools has a few million."""
_JSON, _EVENTS = "application/json", "text/event-stream"


class RemoteServer:
    """A transport of the SDK: entering opens a connection, leaving closes it.

    An answer that cannot be read, is too long or breaks off becomes an error of its request; the connection goes on.
    `refusal` is the status with which the server refused, `excess` why an answer was not read to its end.
    """

    def __init__(self, address: str, headers: Mapping[str, str]) -> None:
        self.refusal: int | None = None
        self._guard = BodyGuard(_REMOTE_SERVER_LONGEST)
        self._address = address
        self._headers = headers
        self._open = AsyncExitStack()

    @property
    def excess(self) -> str | None:
        """Why an answer was not read to its end."""
        return self._guard.excess

    async def __aenter__(self) -> tuple[Any, Any]:
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        http = await self._open.enter_async_context(create_mcp_http_client(headers={**self._headers, **PLAIN}))
        http.event_hooks = {"response": [self._look]}
        client = streamable_http_client(self._address, http_client=http, max_sse_event_size=_REMOTE_SERVER_LONGEST)
        return await self._open.enter_async_context(client)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.__aexit__(kind, error, trace)

    async def _look(self, response: Any) -> None:
        """Have the body of a response read as the answer to its request, if it has an id."""
        if response.status_code >= _REFUSED:
            self.refusal = response.status_code
        number, refused = _find_id(response.request), None
        try:
            await self._guard.look(response)
        except ExcessiveBodyError as error:
            if number is None:
                raise
            refused = str(error)
            del response.headers["Content-Encoding"]
        kind = response.headers.get("Content-Type", "").lower()
        if number is None or (response.status_code >= _REFUSED and refused is None):
            return
        if kind.startswith(_JSON):
            response.stream = _wrap(response.stream, _read_json(response.stream, number, refused))
        elif kind.startswith(_EVENTS):
            response.stream = _wrap(response.stream, _read_events(response.stream, number, refused))


def _find_id(request: Any) -> int | None:
    """Return the id of a JSON-RPC request; nothing for a notification, or for a request without a body."""
    if request.method != "POST":
        return None
    number = json.loads(request.content).get("id")
    return number if type(number) is int else None


def _wrap(stream: Any, body: AsyncIterator[bytes]) -> Any:
    """Return a body that is read in the place of another, and closes that one."""
    from httpx2 import AsyncByteStream

    class Read(AsyncByteStream):
        def __aiter__(self) -> AsyncIterator[bytes]:
            return body

        async def aclose(self) -> None:
            await stream.aclose()

    return Read()


async def _read_json(stream: Any, number: int, refused: str | None) -> AsyncIterator[bytes]:
    """Yield the answer to a request, or an error in its place."""
    from httpx2 import TransportError

    parts: list[bytes] = []
    try:
        if refused is None:
            parts = [each async for each in stream]
    except ExcessiveBodyError as error:
        refused = str(error)
    except TransportError:
        yield write_refusal(number, UNREADABLE, _BROKEN)
        return
    if refused is not None:
        yield write_refusal(number, TOO_LONG, f"the server {refused}")
        return
    yield _check_answer(b"".join(parts), number)


_BROKEN = "the answer breaks off in the middle"


def _check_answer(body: bytes, number: int) -> bytes:
    """Return an answer if it answers the request with that id, else an error in its place.

    An error without an id is that of the request: the server has not read so far.
    """
    from mcp_types import JSONRPCError, jsonrpc_message_adapter

    try:
        message = jsonrpc_message_adapter.validate_json(body, by_name=False)
    except ValueError:
        return write_refusal(number, UNREADABLE, WHY)
    if isinstance(message, JSONRPCError) and message.id is None:
        message.id = number
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    is_answer = not hasattr(message, "method") and str(message.id) == str(number)
    return body if is_answer else write_refusal(number, UNREADABLE, "the answer is not one to its request")


async def _read_events(stream: Any, number: int, refused: str | None) -> AsyncIterator[bytes]:
    """Yield a stream of events; one that is too long ends with an error in the place of the answer."""
    try:
        if refused is None:
            async for each in stream:
                yield each
    except ExcessiveBodyError as error:
        refused = str(error)
    if refused is not None:
        yield b"\n\ndata: " + write_refusal(number, TOO_LONG, f"the server {refused}") + b"\n\n"


Transport = ServerProcess | RemoteServer


_LINES = 12
"""Lines of a server's standard error that are shown."""
_SERVER_ERRORS_LONGEST = 300
"""Characters of one of them."""
_WHOLE = 10_000
"""Bytes in which secrets are looked for, so that none is cut in two."""


@value
class ServerFailure:
    """A server that did not answer: what went wrong, and the last lines of its standard error."""

    server: CatalogueServer
    what: str
    said: tuple[str, ...] = ()


class SenselessListError(Exception):
    """A list of tools that cannot be used; its text says why, as what the server does."""


def describe_failure(server: CatalogueServer, transport: Transport, what: str) -> ServerFailure:
    """Return the facts about a server that did not answer."""
    redacted = Redactor(os.environ, server.env, server.headers).redact_output
    what = redacted(what)
    if isinstance(transport, RemoteServer):
        what = transport.excess or what
        return ServerFailure(server, what if transport.refusal is None else f"{what} (HTTP status {transport.refusal})")
    if transport.strange is not None:
        shown = redacted(transport.strange[:_WHOLE].decode(errors="replace"))[:_SERVER_ERRORS_LONGEST]
        what = f"{what}; what it wrote to its standard output is not MCP: {quote(shown)}"
    lines = redacted(transport.errors.decode(errors="replace")).splitlines()
    return ServerFailure(server, what, tuple(_shorten(line) for line in lines if line.strip())[-_LINES:])


CLOSED = "Connection closed"
"""The library's message about a broken connection; servers use its code for errors of their own, too."""
_UNREAD = "Failed to parse "
"""The beginning of the library's message about an unreadable event."""


def read_message(error: Any) -> str:
    """Return the message of an error of a server; for an unreadable answer, only that."""
    return WHY if error.code == UNREADABLE and error.message.startswith(_UNREAD) else str(error.message)


def explain_error(error: BaseException, transport: Transport) -> str:
    """Return the meaning of an error, to be read behind the name of the server."""
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
    return first if len(first) <= _SERVER_ERRORS_LONGEST else f"{first[:_SERVER_ERRORS_LONGEST]}…"


_AT_ONCE = 8
"""Servers that run at the same time."""
_MOST_PAGES = 10_000
_MOST_TOOLS = 100_000
_MCP_LONGEST = 64_000_000
"""No server has so many, and so many characters in all of them; one that goes on has lost its way."""


@value
class Question:
    """A server to ask: the folder of the file that names it, and the seconds it may take in all."""

    server: CatalogueServer
    folder: str
    timeout: float

    async def answer(self, report: Progress) -> Answer:
        """Return the offer of the server, or the reason why it does not answer."""
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
Progress = Callable[[CatalogueServer, int], None]
"""Called with a server and how many tools it has named so far: when it is started, and after every page."""
Finish = Callable[[CatalogueServer, int | None], None]
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


def require_library(need: str = "asking MCP servers needs") -> None:
    """Raise `Failure` when the library is not installed; keep it from logging what is told in our own words.

    `need` is who needs it, with the verb.
    """
    import logging

    try:
        import mcp
    except ImportError as error:
        raise explain_missing_extra(need, "mcp") from error
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


def _unfit(server: CatalogueServer) -> str | None:
    if server.command is None and server.url is None:
        return "has neither a 'command' nor a 'url'"
    return (
        f"is of type {quote(server.transport)}, which stagec does not support" if server.transport in _OTHERS else None
    )


_OTHERS = {"sse", "ws"}
"""Transports that came before HTTP as it is now, or never became part of the protocol."""


def open_transport(server: CatalogueServer, folder: str) -> Transport:
    """Return how a server is reached: as a process that starts in a folder, or by its address."""
    from mcp.client.stdio import get_default_environment

    if server.command is None:
        return RemoteServer(server.url or "", server.headers)
    environment = {**get_default_environment(), **server.env}
    folder = os.path.join(folder, server.cwd or "")
    return ServerProcess(Job((server.command, *server.args), environment, folder or "."))


async def _tools(server: CatalogueServer, transport: Transport, report: Callable[[int], None]) -> dict[str, LockedTool]:
    """Ask in the way that servers of today understand, and in the way of tomorrow those that know no other."""
    from mcp_types import UNSUPPORTED_PROTOCOL_VERSION

    try:
        return await _list(server, transport, "legacy", report)
    except Exception as error:
        if getattr(first_error(error), "code", None) != UNSUPPORTED_PROTOCOL_VERSION:
            raise
    return await _list(server, transport, "auto", report)


async def _list(
    server: CatalogueServer, transport: Transport, mode: str, report: Callable[[int], None]
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
    """Return the effects of calling a tool by the server's annotations."""
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
        if number > _MOST_TOOLS or length > _MCP_LONGEST:
            excess = f"{_MOST_TOOLS:,} tools" if number > _MOST_TOOLS else f"{_MCP_LONGEST:,} characters"
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


def expand_variables(server: CatalogueServer, variables: Mapping[str, str]) -> CatalogueServer:
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
