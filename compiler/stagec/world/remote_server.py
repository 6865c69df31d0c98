"""An MCP server that runs elsewhere: messages over HTTP, and the status with which it last refused one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any

_REFUSED = 400
"""HTTP statuses from here on are refusals."""
_LONGEST = 16_000_000
"""Bytes of one answer; a page of ten thousand tools has a few million."""
_PLAIN = {"", "identity"}


class ExcessiveBodyError(Exception):
    """An answer that is not read to its end; its text says why, as what the server does."""


class RemoteServer:
    """A transport of the SDK: entering opens a connection, leaving closes it.

    `refusal` is the status with which the server refused, `excess` why an answer was not read to its end.
    """

    def __init__(self, address: str, headers: Mapping[str, str]) -> None:
        self.refusal: int | None = None
        self.excess: str | None = None
        self._address = address
        self._headers = headers
        self._open = AsyncExitStack()

    async def __aenter__(self) -> tuple[Any, Any]:
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        http = await self._open.enter_async_context(
            create_mcp_http_client(headers={**self._headers, "Accept-Encoding": "identity"})
        )
        http.event_hooks = {"response": [self._look]}
        return await self._open.enter_async_context(streamable_http_client(self._address, http_client=http))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.__aexit__(kind, error, trace)

    async def _look(self, response: Any) -> None:
        if response.status_code >= _REFUSED:
            self.refusal = response.status_code
        if response.headers.get("Content-Encoding", "").strip().lower() not in _PLAIN:
            raise self._explain_excess("sends a compressed answer that nobody asked for")
        response.stream = self._bound(response.stream)

    def _explain_excess(self, what: str) -> ExcessiveBodyError:
        self.excess = what  # the library may keep the error to itself
        return ExcessiveBodyError(what)

    def _bound(self, stream: Any) -> Any:
        """Return the body of an answer that fails as soon as it is longer than an answer can be."""
        from httpx2 import AsyncByteStream

        exceeded = self._explain_excess

        class Bounded(AsyncByteStream):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                length = 0
                async for chunk in stream:
                    length += len(chunk)
                    if length > _LONGEST:
                        raise exceeded(f"sends an answer of more than {_LONGEST:,} bytes")
                    yield chunk

            async def aclose(self) -> None:
                await stream.aclose()

        return Bounded()
