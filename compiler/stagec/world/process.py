"""An MCP server as a process: messages through its standard streams, and an end that leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import suppress
from typing import Any, cast

from stagec.core.value import NOTHING, value

_CHUNK = 65_536
_LONGEST_LINE = 64_000_000
"""Bytes of one message; a page of ten thousand tools has a few million."""
_KEPT = 16_384
"""Bytes of standard error that are kept, from its end."""
_PATIENCE = 2.0
"""Seconds a server may take to end by itself once its standard input is closed, and again once it is asked to."""


@value
class Launch:
    """How a process is started: its arguments, its whole environment and its folder."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = NOTHING
    folder: str = "."


class ServerProcess:
    """A transport of the SDK: entering starts the process, leaving ends it and every process it started.

    `strange` is the first line on its standard output that is no message, `errors` the end of its standard error,
    `status` the exit status of a process that ended by itself.
    """

    def __init__(self, launch: Launch) -> None:
        self.strange: bytes | None = None
        self.errors = b""
        self.status: int | None = None
        self._launch = launch
        self._process: Process | None = None
        self._tasks: tuple[asyncio.Task[None], ...] = ()
        self._streams: tuple[Any, ...] = ()

    @property
    def program(self) -> str:
        """The name of the program."""
        return self._launch.command[0]

    async def __aenter__(self) -> tuple[Any, Any]:
        from anyio import create_memory_object_stream

        launch = self._launch
        self._process = await asyncio.create_subprocess_exec(
            *launch.command,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=dict(launch.environment),
            cwd=launch.folder,
            start_new_session=True,
        )
        arrived, incoming = create_memory_object_stream[Any](0)
        outgoing, sent = create_memory_object_stream[Any](0)
        self._streams = (arrived, incoming, outgoing, sent)
        work: tuple[Coroutine[Any, Any, None], ...] = (
            self._receive(cast("StreamReader", self._process.stdout), arrived),
            self._send(cast("StreamWriter", self._process.stdin), sent),
            self._keep_errors(cast("StreamReader", self._process.stderr)),
        )
        self._tasks = tuple(asyncio.create_task(each) for each in work)
        return incoming, outgoing

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        from anyio import CancelScope

        if self._process is None:
            return
        with CancelScope(shield=True):
            for stream in self._streams:
                stream.close()
            try:
                self.status = await _end(self._process, 0 if kind is asyncio.CancelledError else _PATIENCE)
            finally:
                await self._settle()

    async def _settle(self) -> None:
        """Let what the process still had to say arrive, then stop listening."""
        await asyncio.wait(self._tasks, timeout=_PATIENCE)
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


async def _end(process: Process, patience: float) -> int | None:
    """Close the standard input and wait, ask, kill; return the status of a process that ended without being asked.

    Whatever is left of its process group is killed as well.
    """
    if process.stdin is not None:
        process.stdin.close()
    try:
        await _ended(process, patience)
        status = process.returncode
        if status is None:
            _signal(process, signal.SIGTERM)
            await _ended(process, _PATIENCE / 2)
    finally:
        _signal(process, signal.SIGKILL)
    await _ended(process, _PATIENCE)
    return status


async def _ended(process: Process, patience: float) -> None:
    """Wait for the end of a process, and of all that share its streams."""
    with suppress(TimeoutError):
        async with asyncio.timeout(patience):
            await process.wait()


def _signal(process: Process, number: signal.Signals) -> None:
    """Send a signal to a process and all that it started in its session."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
