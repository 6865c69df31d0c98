"""Connections that have sent no whole request yet: how many there may be, and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

MOST = 100
"""Connections without a whole request at the same time; nobody has shown a token yet on any of them."""
PATIENCE = 10.0
"""Seconds in which a request must have come as a whole."""


class WaitingRoom:
    """The connections of a server without a whole request, the oldest first; when they are too many, it must go."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._waiting: dict[Connection, None] = {}
        self._is_told = False

    def enter(self, connection: Connection) -> None:
        """Let a connection wait; close the one that has waited longest in its place if there is no room."""
        self._waiting[connection] = None
        if len(self._waiting) > MOST:
            next(iter(self._waiting)).give_up()
            if not self._is_told:
                self._is_told = True
                self._tell(f"more than {MOST} connections have sent no whole request: the oldest are closed")

    def leave(self, connection: Connection) -> None:
        """Forget a connection that has sent a request or is closed."""
        self._waiting.pop(connection, None)
        self._is_told = self._is_told and bool(self._waiting)


class Connection(H11Protocol):
    """A connection that is closed unless it sends whole requests in time; `room` counts those that have not yet."""

    room: WaitingRoom
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._await_request()

    def data_received(self, data: bytes) -> None:
        """Take what has come; a request that is whole waits no longer."""
        if self._timer is None:
            self._await_request()
        super().data_received(data)
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not (cycle.more_body or cycle.response_complete):
            self._end_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._end_waiting()
        super().connection_lost(exc)

    def give_up(self) -> None:
        """Close the connection at once."""
        self._end_waiting()
        self.transport.abort()

    def _await_request(self) -> None:
        self._timer = self.loop.call_later(PATIENCE, self.give_up)
        self.room.enter(self)

    def _end_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.room.leave(self)
