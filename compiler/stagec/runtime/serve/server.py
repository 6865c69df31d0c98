"""The server of the page: where it listens, how it begins, and how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from secrets import token_urlsafe
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from stagec.core.failure import Failure
from stagec.core.words import quote
from stagec.runtime.serve.application import Access, App, make_application
from stagec.runtime.serve.serve_setup import LOOPBACK, ServeSetup
from stagec.runtime.serve.watch import Watch

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


_BYTES = 32
"""Bytes of chance in a token."""
_SHORTEST = 20
"""Characters of a token that somebody chooses."""


Tell = Callable[[str], None]


def serve(setup: ServeSetup, announce: Tell, tell: Tell) -> None:
    """Serve the page until somebody interrupts it.

    `announce` is told the address once the server listens, `tell` whatever happens. A port that is in use is a
    `Failure`.
    """
    token = setup.token or token_urlsafe(_BYTES)
    if len(token) < _SHORTEST:
        raise Failure(f"the token has {len(token)} characters and can be guessed: use at least {_SHORTEST}")
    with _listen(setup) as listening:
        port = int(listening.getsockname()[1])
        watch = Watch(setup.source)
        access = _make_access(setup, port, token)
        app, stop = make_application(setup, watch, access, tell)
        announce(f"http://{_bracket(setup.host)}:{port}/login#{token}")
        try:
            asyncio.run(_run(_Server(app, stop, tell), watch, listening))
        finally:
            watch.close()


def _listen(setup: ServeSetup) -> socket.socket:
    """Return a listening socket; a port in use is an error before anything else begins."""
    where = f"{_bracket(setup.host)}:{setup.port}"
    with ExitStack() as opened:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(setup.host, setup.port, type=socket.SOCK_STREAM)[0]
            listening = opened.enter_context(socket.socket(family, kind, protocol))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, os.name == "posix")
            listening.bind(address)
            listening.listen(128)
        except OSError as error:
            hint = "; --port names another port, 0 any that is free" if setup.port else ""
            raise Failure(f"cannot listen at {quote(where)}: {error.strerror or error}{hint}") from error
        opened.pop_all()
        return listening


def _make_access(setup: ServeSetup, port: int, token: str) -> Access:
    """Return what requests must name: no host but those that this server is known by, against rebinding."""
    names = {setup.host, *(LOOPBACK if setup.host in LOOPBACK else ())}
    hosts = {f"{_bracket(name)}:{port}".lower() for name in names}
    origins = {f"http://{host}" for host in hosts} | {each.rstrip("/").lower() for each in setup.origins}
    hosts |= {each.partition("://")[2].rstrip("/").lower() for each in setup.origins}
    return Access(frozenset(hosts), frozenset(origins), token, token_urlsafe(_BYTES), f"stagec_{port}")


def _bracket(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class _Server(uvicorn.Server):
    """A server that an interruption ends as it should, and nothing else."""

    def __init__(self, app: App, stop: Callable[[], None], tell: Tell) -> None:
        more: Any = {
            "log_config": None,
            "access_log": False,
            "server_header": False,
            "log_level": "critical",
            "lifespan": "off",
            "ws": "none",
            "http": type("Connection", (Connection,), {"room": WaitingRoom(tell)}),
            "backlog": MOST,  # are accepted one after the other, before any of them can be refused
        }
        super().__init__(uvicorn.Config(app, timeout_graceful_shutdown=3, **more))
        self._stop = stop

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Obey what asks the process to end, once it has told its streams to end."""
        loop, obeyed = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
        for each in obeyed:
            loop.add_signal_handler(each, self.handle_exit, each, None)
        yield
        for each in obeyed:
            loop.remove_signal_handler(each)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End every stream, then everything else."""
        self._stop()
        await super().shutdown(sockets)


async def _run(server: _Server, watch: Watch, listening: socket.socket) -> None:
    """Answer requests until the process is interrupted or terminated."""
    watch.start()
    await server.serve([listening])
