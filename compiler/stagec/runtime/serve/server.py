"""The server of the page: its routes and access control, where it listens, how it begins and ends."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
from contextlib import ExitStack, contextmanager
from functools import cache
from hmac import compare_digest
from importlib.resources import files
from secrets import token_urlsafe
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from stagec.core.failure import Failure
from stagec.core.json import object_of, text_in
from stagec.core.value import value
from stagec.core.words import quote
from stagec.runtime.drivers.following import UnreachableError
from stagec.runtime.serve.run_api import RunApi, SteeringApi, answer_error, answer_json
from stagec.runtime.serve.run_source import LOOPBACK, PlanShelf, ServeSetup
from stagec.runtime.serve.watch import Watch
from stagec.views.svg.drawing import read_style

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


LARGEST = 1_000_000
"""Bytes of a body."""
_MOST, _PERIOD = 10, 60.0
"""Wrong tokens in so many seconds, after which the door stays closed for as long."""
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_SAFE = frozenset({"GET", "HEAD"})
_LOGIN = "/api/login"


@value
class Access:
    """The credentials of a request: one of these hosts, one of these origins, and the token, or a cookie for it.

    `session` is what the cookie of a browser holds that has shown the token.
    """

    hosts: frozenset[str]
    origins: frozenset[str]
    token: str
    session: str
    cookie: str


class Doorkeeper:
    """Stands before an application and refuses what has no business there; tells of it without any secret."""

    def __init__(self, app: App, access: Access, tell: Callable[[str], None]) -> None:
        self._app, self._access, self._tell = app, access, tell
        self._wrong: deque[float] = deque(maxlen=_MOST)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._admit(scope, receive, _with_headers(send))

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _read_headers(scope["headers"])
        refusal = self._find_refusal(scope, headers)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        body = b"" if scope["method"] in _SAFE else await _read_body(receive)
        if body is None:
            await _refuse(send, 413, "the body is too large")
        else:
            await self._app(scope, receive if scope["method"] in _SAFE else _give(body, receive), send)

    def _find_refusal(self, scope: Scope, headers: dict[str, list[str]]) -> tuple[int, str] | None:
        """Return the status and the sentence with which a request is refused; None when it may come in."""
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._access.hosts:
            return 403, "this is not the name of this server"
        if any(each not in self._access.origins for each in origins):
            return 403, "the request comes from another page"
        if not scope["path"].startswith("/api/"):
            return None if scope["method"] in _SAFE else (405, "this page is read-only")
        if headers.get("sec-fetch-site", ["none"])[0] not in {"none", "same-origin"}:
            return 403, "the request comes from another page"
        return self._judge_change(scope, headers) or self._judge_token(scope, headers)

    def _judge_change(self, scope: Scope, headers: dict[str, list[str]]) -> tuple[int, str] | None:
        """Refuse what changes something and is no request of the page, nor of a program that has the token."""
        if scope["method"] in _SAFE:
            return None
        if not headers.get("origin") and not headers.get("authorization"):
            return 403, "the request does not say which page it comes from"
        if headers.get("content-type", [""])[0].partition(";")[0].strip().lower() != "application/json":
            return 415, "the body must be application/json"
        length = headers.get("content-length", ["0"])[0]
        return (413, "the body is too large") if not length.isdecimal() or int(length) > LARGEST else None

    def _judge_token(self, scope: Scope, headers: dict[str, list[str]]) -> tuple[int, str] | None:
        if scope["path"] == _LOGIN:
            return None
        given = headers.get("authorization", [])
        if given:
            return self.judge_token(given[0].removeprefix("Bearer ").strip())
        if any(_equals(each, self._access.session) for each in _list_cookies(headers, self._access.cookie)):
            return None
        return 401, "no token was given"

    def judge_token(self, token: str) -> tuple[int, str] | None:
        """Return why a token does not open the door; None when it does. Wrong ones are counted."""
        now = time.monotonic()
        if len(self._wrong) == _MOST and now - self._wrong[0] < _PERIOD:
            if now - self._wrong[-1] < _PERIOD:
                return 429, "too many wrong tokens: try again in a minute"
            self._wrong.clear()
        if _equals(token, self._access.token):
            return None
        self._wrong.append(now)
        self._tell("a wrong token was given")
        return 401, "the token is wrong"


def _equals(given: str, wanted: str) -> bool:
    """Compare in constant time."""
    return compare_digest(given.encode(errors="replace"), wanted.encode())


def _read_headers(given: Iterable[tuple[bytes, bytes]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, told in given:
        found.setdefault(name.decode("latin-1").lower(), []).append(told.decode("latin-1"))
    return found


def _list_cookies(headers: dict[str, list[str]], wanted: str) -> list[str]:
    pairs = (each.strip().partition("=") for line in headers.get("cookie", []) for each in line.split(";"))
    return [told for name, _, told in pairs if name == wanted]


def _with_headers(send: Send) -> Send:
    """Return a sender of responses with the headers of every response."""

    async def send_more(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), told.encode()) for name, told in _HEADERS.items()]
            message["headers"] = [*message.get("headers", ()), *own]
        await send(message)

    return send_more


async def _read_body(receive: Receive) -> bytes | None:
    """Return a whole body; None when it is too large."""
    found, is_more = bytearray(), True
    while is_more:
        message = await receive()
        found += message.get("body", b"")
        is_more = message.get("more_body", False)
        if len(found) > LARGEST:
            return None
    return bytes(found)


def _give(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that first returns a body already read, and then later messages."""
    told = False

    async def receive_all() -> MutableMapping[str, Any]:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_all


async def _refuse(send: Send, status: int, sentence: str) -> None:
    body = json.dumps({"error": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    more = {401: [(b"www-authenticate", b"Bearer")], 429: [(b"retry-after", b"60")]}
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *more.get(status, [])]})
    await send({"type": "http.response.body", "body": body})


_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_DRAWING = "drawing.css"
"""The styles of drawings, which the page shares with the files of `stagec graph --format html`."""


def list_page_routes() -> list[Route]:
    """Return the requests for files of the page."""
    return [
        Route("/", show_page),
        Route("/login", show_page),
        Route("/static/{name}", show_file),
    ]


def show_page(_request: Request) -> Response:
    """Answer with the page, which asks for everything that it shows."""
    return Response(_read_all()["index.html"], media_type="text/html")


def show_file(request: Request) -> Response:
    """Answer with a style or a script of the page."""
    name = str(request.path_params["name"])
    data = _read_all().get(name)
    if data is None:
        return Response(b"", 404)
    return Response(data, media_type=_TYPES[name.rpartition(".")[2]])


@cache
def _read_all() -> dict[str, bytes]:
    """Return every file by its name."""
    page = files("stagec.runtime.serve").joinpath("page")
    found = {
        each.name: each.read_text("utf-8").encode() for each in page.iterdir() if each.name.rpartition(".")[2] in _TYPES
    }
    return {**found, _DRAWING: read_style().encode()}


class Entrance:
    """The page on which a browser shows the token."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self.judge: Callable[[str], tuple[int, str] | None] = lambda _: (503, "the door is not there yet")

    async def log_in(self, request: Request) -> Response:
        """Give a browser that has shown the token a cookie, which scripts cannot read."""
        try:
            token = text_in(object_of(await request.json()), "token") or ""
        except (ValueError, RecursionError):
            return answer_error(400, "the body is not JSON")
        refusal = self.judge(token)
        if refusal is not None:
            refused = answer_error(*refusal)
            refused.headers["retry-after"] = "60"
            return refused
        response = answer_json({})
        is_encrypted = (request.headers.get("origin") or "").startswith("https:")
        name, session = self._access.cookie, self._access.session
        response.set_cookie(name, session, httponly=True, samesite="strict", secure=is_encrypted)
        return response


def _explain_unreachable(_request: Request, error: Exception) -> Response:
    """Answer what cannot be answered now: whoever asks again a little later may have luck."""
    return answer_error(503, str(error))


def make_application(
    setup: ServeSetup, watch: Watch, access: Access, tell: Callable[[str], None]
) -> tuple[App, Callable[[], None]]:
    """Return the application, and what ends its streams."""
    shelf, entrance = PlanShelf(setup.plans), Entrance(access)
    api, steering = RunApi(watch, shelf, can_start=setup.can_start), SteeringApi(setup, watch, shelf, tell)
    login = Route("/api/login", entrance.log_in, methods=["POST"])
    door = Doorkeeper(
        Starlette(
            routes=[*list_page_routes(), *api.list_routes(), *steering.list_routes(), login],
            exception_handlers={UnreachableError: _explain_unreachable},
        ),
        access,
        tell,
    )
    entrance.judge = door.judge_token
    return door, api.streams.close


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
        """Take received data; a whole request waits no longer."""
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
    """Return the required credentials: only hosts by which this server is known, against rebinding."""
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
