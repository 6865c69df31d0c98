"""An MCP server as a process: messages through its standard streams, and an end that leaves nothing behind."""

from __future__ import annotations

import asyncio
import signal
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from typing import Any, cast

from stagec.world.supervised import Job, Link

_CHUNK = 65_536
_LONGEST_LINE = 16_000_000
"""Bytes of one message; a page of ten thousand tools has a few million."""
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
        process = await asyncio.create_subprocess_exec(
            *link.command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,
            pass_fds=link.list_inherited(job),
        )
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
        from mcp_types import jsonrpc_message_adapter

        with arrived, suppress(BrokenResourceError, ClosedResourceError):
            async for line in _lines(output):
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    self.strange = self.strange or line.strip() or None
                else:
                    await arrived.send(SessionMessage(message))
        while await output.read(_CHUNK):
            pass

    async def _send(self, given: StreamWriter, sent: Any) -> None:
        from anyio import ClosedResourceError

        with suppress(OSError, ClosedResourceError):
            async for each in sent:
                given.write(each.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await given.drain()

    async def _keep_errors(self, output: StreamReader) -> None:
        while chunk := await output.read(_CHUNK):
            self.errors = (self.errors + chunk)[-_KEPT:]


async def _lines(output: StreamReader) -> AsyncIterator[bytes]:
    parts: list[bytes] = []
    length = 0
    while length < _LONGEST_LINE and (chunk := await output.read(_CHUNK)):
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            yield b"".join([*parts, line])
            parts, length = [], 0
        parts.append(rest)
        length += len(rest)
    if length >= _LONGEST_LINE:
        yield parts[0]


async def _wait_for_end(process: Process) -> None:
    """Wait until the supervisor has killed everything: asyncio kills what is not awaited, and others would be left.

    Whoever has no time for that ends stagec itself, and then the supervisor goes on alone.
    """
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            await process.wait()
