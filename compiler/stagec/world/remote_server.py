"""An MCP server that runs elsewhere: messages over HTTP, and the status with which it last refused one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any

from stagec.world.http_bodies import PLAIN, BodyGuard, ExcessiveBodyError
from stagec.world.server_process import TOO_LONG, UNREADABLE, WHY, write_refusal

_REFUSED = 400
"""HTTP statuses from here on are refusals."""
_LONGEST = 16_000_000
"""Bytes of one answer; a page of ten thousand tools has a few million."""
_JSON, _EVENTS = "application/json", "text/event-stream"


class RemoteServer:
    """A transport of the SDK: entering opens a connection, leaving closes it.

    An answer that cannot be read, is too long or breaks off becomes an error of its request; the connection goes on.
    `refusal` is the status with which the server refused, `excess` why an answer was not read to its end.
    """

    def __init__(self, address: str, headers: Mapping[str, str]) -> None:
        self.refusal: int | None = None
        self._guard = BodyGuard(_LONGEST)
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
        client = streamable_http_client(self._address, http_client=http, max_sse_event_size=_LONGEST)
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
