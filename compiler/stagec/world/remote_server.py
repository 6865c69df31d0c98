"""An MCP server that runs elsewhere: messages over HTTP, and the status with which it last refused one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any

from stagec.world.http_bodies import PLAIN, BodyGuard

_REFUSED = 400
"""HTTP statuses from here on are refusals."""
_LONGEST = 16_000_000
"""Bytes of one answer; a page of ten thousand tools has a few million."""


class RemoteServer:
    """A transport of the SDK: entering opens a connection, leaving closes it.

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
        return await self._open.enter_async_context(streamable_http_client(self._address, http_client=http))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.__aexit__(kind, error, trace)

    async def _look(self, response: Any) -> None:
        if response.status_code >= _REFUSED:
            self.refusal = response.status_code
        await self._guard.look(response)
