"""A server on loopback that speaks the wire formats of OpenAI and Anthropic as a script says, misbehaviour included."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from typing import Any

Event = dict[str, Any]


@dataclass
class Said:
    """One response: text, calls as `(id, name, arguments as text)`, and what goes wrong with it."""

    text: str = ""
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    """Close the connection in the middle of the stream."""
    reset: bool = False
    """Break the connection in the middle of the stream, so that whoever reads it gets an error."""
    together: threading.Barrier | None = None
    """Says nothing until so many requests are under way at the same time."""
    finish: str | None = None
    body: str | None = None
    """Send this in place of a response."""
    spoil: Callable[[list[str]], list[str]] | None = None
    """Turns the data of the events of the stream into those that are sent."""

    def wait(self) -> None:
        """Wait until the response may begin."""
        time.sleep(self.delay)
        if self.together is not None:
            self.together.wait(_PATIENCE)


@dataclass
class Wire:
    """What the server is asked, and what it says: one after the other, the last again and again.

    With `answer`, what it says follows from what it is asked.
    """

    url: str
    script: list[Said]
    asked: list[Event] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    answer: Callable[[Event], Said] | None = None

    def say(self, asked: Event) -> Said:
        if self.answer is not None:
            return self.answer(asked)
        return self.script[min(len(self.asked), len(self.script)) - 1]


def _openai(said: Said, model: str) -> Iterator[str]:
    def chunk(delta: Event, finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return json.dumps(
            {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [choice]}
        )

    yield chunk({"role": "assistant", "content": ""})
    for piece in said.text.split(" ") if said.text else ():
        yield chunk({"content": piece + " "})
    for index, (name, tool, arguments) in enumerate(said.calls):
        function = {"name": tool, "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": name, "type": "function", "function": function}]})
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]})
    yield chunk({}, said.finish or ("tool_calls" if said.calls else "stop"))
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    yield json.dumps(
        {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": [], "usage": usage}
    )
    yield "[DONE]"


def _anthropic(said: Said, model: str) -> Iterator[str]:
    message = {"id": "m", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None}
    yield json.dumps(
        {"type": "message_start", "message": {**message, "usage": {"input_tokens": 10, "output_tokens": 1}}}
    )
    blocks: list[tuple[Event, Event]] = []
    if said.text:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": said.text}))
    for name, tool, arguments in said.calls:
        use = {"type": "tool_use", "id": name, "name": tool, "input": {}}
        blocks.append((use, {"type": "input_json_delta", "partial_json": arguments}))
    for index, (start, delta) in enumerate(blocks):
        yield json.dumps({"type": "content_block_start", "index": index, "content_block": start})
        yield json.dumps({"type": "content_block_delta", "index": index, "delta": delta})
        yield json.dumps({"type": "content_block_stop", "index": index})
    reason = {"length": "max_tokens", "content_filter": "refusal"}.get(
        said.finish or "", "tool_use" if said.calls else "end_turn"
    )
    yield json.dumps({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}})
    yield json.dumps({"type": "message_stop"})


def _find_kind(line: str) -> Any:
    """Return the kind of an event that has one, as Anthropic names it also outside of its data."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event.get("type") if isinstance(event, dict) else None


def _write(stream: BufferedIOBase, events: list[str]) -> None:
    for line in events:
        kind = _find_kind(line)
        stream.write((f"event: {kind}\n" if kind else "").encode() + f"data: {line}\n\n".encode())
        stream.flush()


def _read(handler: BaseHTTPRequestHandler) -> Event | None:
    """Return what is asked; nothing when whoever asked was killed meanwhile."""
    length = int(handler.headers["content-length"])
    body = handler.rfile.read(length)
    handler.close_connection = len(body) < length
    return None if handler.close_connection else json.loads(body)


def _end(connection: socket.socket, said: Said) -> None:
    """Break a connection if that is wanted, as closing a socket does that lingers for no time."""
    if said.reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()


def _handler(wire: Wire) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = _read(self)
            if asked is None:
                return
            wire.asked.append(asked)
            wire.keys.append(self.headers.get("authorization") or self.headers.get("x-api-key") or "")
            said = wire.say(asked)
            said.wait()
            if said.status != 200 or said.body is not None:
                self._send(said)
            else:
                lines = _anthropic if "messages" in self.path else _openai
                self._stream(said, [*lines(said, asked["model"])])

        def _send(self, said: Said) -> None:
            body = (said.body or json.dumps({"error": {"message": "scripted", "type": "scripted"}})).encode()
            self.send_response(said.status)
            for name, each in {"content-type": "application/json", **said.headers}.items():
                self.send_header(name, each)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, said: Said, events: list[str]) -> None:
            events = events if said.spoil is None else said.spoil(events)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):  # nobody wants to hear the rest
                _write(self.wfile, events[: len(events) // 2] if said.cut or said.reset else events)
            self.close_connection = True
            _end(self.connection, said)

        def log_message(self, *_given: object) -> None: ...

    return Handler


_PATIENCE = 30
"""Seconds until requests that never come together are given up."""


class _Server(ThreadingHTTPServer):
    """A server at which many connections may arrive at once; one that is turned away comes again a second later."""

    request_queue_size = 256
    daemon_threads = True


@contextmanager
def serve(*script: Said, answer: Callable[[Event], Said] | None = None) -> Iterator[Wire]:
    """Serve a script until the body ends, or what follows from each request."""
    wire = Wire("", [*script], answer=answer)
    server = _Server(("127.0.0.1", 0), _handler(wire))
    wire.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield wire
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
