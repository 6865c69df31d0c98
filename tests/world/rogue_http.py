"""An MCP server over HTTP, in a thread of the test, that answers as the name of what it is asked for says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

Json = dict[str, Any]
_RESULT = (
    '{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "text": "%s"}], "structuredContent": %s}}'
)


def _result(text: str = "ok", structured: str = '{"a": 1}') -> Callable[[int], bytes]:
    return lambda number: (_RESULT % (number, text, structured)).encode()


def _deep(number: int) -> bytes:
    return _result(structured='{"a": ' + "[" * 100_000 + "]" * 100_000 + "}")(number)


BODIES: Mapping[str, Callable[[int], bytes]] = {
    "fine": _result(),
    "surrogate": _result(text="\\ud800"),
    "surrogate in structure": _result(structured='{"a": "\\ud800"}'),
    "NaN": _result(structured='{"a": NaN}'),
    "infinity": _result(structured='{"a": [1, -Infinity]}'),
    "a number without end": _result(structured='{"a": 1e999}'),
    "depth": _deep,
    "no JSON": lambda _: b"<html>Bad gateway</html>",
    "nothing": lambda _: b"",
    "not UTF-8": lambda number: _result(text="X")(number).replace(b"X", b"\xff\xfe"),
    "half": lambda number: _result()(number)[:40],
    "no answer": lambda _: b'{"jsonrpc": "2.0", "method": "notifications/message", "params": {}}',
    "another id": lambda number: _result()(number + 1000),
    "id of text": lambda number: _result()(number).replace(b'"id": %d' % number, b'"id": "%d"' % number),
    "no id": lambda number: _result()(number).replace(b'"id": %d, ' % number, b""),
    "batch": lambda number: b"[" + _result()(number) + b"]",
    "neither": lambda number: b'{"jsonrpc": "2.0", "id": %d}' % number,
    "odd error": lambda number: b'{"jsonrpc": "2.0", "id": %d, "error": 5}' % number,
}
"""What is sent in place of the result of a call."""
TYPES = {
    "json": "application/json",
    "events": "text/event-stream",
    "page": "text/html",
    "untyped": "",
    "almost": "application/jsonp",
}


def _dress(body: bytes, form: str) -> bytes:
    return b"event: message\ndata: " + body + b"\n\n" if form == "events" else body


@dataclass
class Rogue:
    """What a server offers, and what it was asked: methods, and the arguments of calls.

    `redirect` is an address to which it sends every call, `extra` what it sends as events before each result.
    """

    offer: list[Json]
    url: str = ""
    asked: list[str] = field(default_factory=list)
    calls: list[Json] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    redirect: str = ""
    extra: str = ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    rogue: Rogue
    over: Event


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._send(405, b"", "text/plain")

    def do_DELETE(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        asked, rogue = json.loads(self.rfile.read(int(self.headers["content-length"]))), self.server.rogue
        method = asked.get("method")
        rogue.asked.append(str(method))
        rogue.headers.append(dict(self.headers.items()))
        if "id" not in asked:
            self._send(202, b"", "text/plain")
        elif method == "initialize":
            given = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}}}
            self._answer(asked, {**given, "serverInfo": {"name": "rogue", "version": "1"}})
        elif method == "tools/list":
            self._answer(asked, {"tools": [{"inputSchema": {"type": "object"}, **each} for each in rogue.offer]})
        elif rogue.redirect:
            self._send(307, b"", "text/plain", location=rogue.redirect)
        else:
            given = asked["params"].get("arguments") or {}
            rogue.calls.append(given)
            with suppress(OSError):
                self._misbehave(asked["id"], given.get("body", "fine"), given.get("form", "json"), given.get("how", ""))

    def _misbehave(self, number: int, body: str, form: str, how: str) -> None:
        data = (self.server.rogue.extra.encode() if form == "events" else b"") + _dress(BODIES[body](number), form)
        if how == "":
            self._send(200, data, TYPES[form])
            return
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", TYPES[form])
        self.send_header("connection", "close")
        if how == "compressed":
            self.send_header("content-encoding", "gzip")
        if how in {"truncated", "mute"}:
            self.send_header("content-length", str(len(data) + 100))
        self.end_headers()
        self.wfile.write(data[:-20] if how == "truncated" else b"")
        while how == "endless" and not self.server.over.is_set():
            self.wfile.write(b": still here\n\n" * 1_000 if form == "events" else b" " * 100_000)
        if how == "mute":
            self.server.over.wait(60)

    def _answer(self, asked: Json, result: Json) -> None:
        self._send(200, json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode(), TYPES["json"])

    def _send(self, status: int, body: bytes, kind: str, **headers: str) -> None:
        self.send_response(status)
        for name, each in {"content-type": kind, **headers}.items():
            if each:
                self.send_header(name, each)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_given: object) -> None: ...


@contextmanager
def serve_rogue(*offer: Json) -> Iterator[Rogue]:
    """Serve until the body ends; the tools that are offered may be changed meanwhile."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.over, server.rogue = Event(), Rogue([*offer], f"http://127.0.0.1:{server.server_port}/mcp")
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.rogue
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()
