"""An MCP server as a process: messages through its standard streams, and an end that leaves nothing behind."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from typing import Any, cast

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
    """Return an error in the place of an answer that the library cannot read; nothing if the line is no answer."""
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
