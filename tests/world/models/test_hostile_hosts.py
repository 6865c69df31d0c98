"""Hosts of models that break HTTP, its streams and their own formats: each request ends in time, in bounded memory."""

from __future__ import annotations

import json
import socket
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from itertools import count
from threading import Event, Thread

import pytest

from stagec.runtime.world.models import pydantic_provider
from stagec.runtime.world.models.port import ModelError, ModelFault, ModelLimits, ModelMessage, ModelRequest
from stagec.runtime.world.models.pydantic_provider import PydanticProvider

MODELS = ("openai:gpt-5.4", "anthropic:claude-next")
HELLO = (ModelMessage("user", "Go."),)
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
OPENAI = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}


def _piece(text: str) -> bytes:
    return _data({**OPENAI, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})


def _data(event: dict[str, object], name: str = "") -> bytes:
    return (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(event).encode() + b"\n\n"


def _begin(path: str) -> bytes:
    """Return how a response begins."""
    if "messages" not in path:
        return _piece("")
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    start = {"type": "message_start", "message": {**message, "usage": usage}}
    return _data(start, "message_start") + _data(block, "content_block_start")


def _more(path: str, text: str) -> bytes:
    """Return a further piece of the text of a response."""
    if "messages" not in path:
        return _piece(text)
    delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
    return _data(delta, "content_block_delta")


Attack = Callable[[socket.socket, str], None]


class Host:
    """Takes connections, reads what is asked, and lets an attack write whatever it likes."""

    def __init__(self, attack: Attack) -> None:
        self.heads: list[str] = []
        self._attack = attack
        self._over = Event()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(0.05)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while not self._over.is_set():
            with suppress(TimeoutError):
                Thread(target=self._answer, args=(self._listening.accept()[0],), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            head, end, body = _receive(connection).partition(b"\r\n\r\n")
            if not end:  # somebody has connected, and has asked nothing
                return
            self.heads.append(head.decode())
            wanted = int(next(each.split(b":")[1] for each in head.lower().split(b"\r\n") if b"content-length" in each))
            while len(body) < wanted:
                body += connection.recv(65_536)
            self._attack(connection, self.heads[-1].split(" ")[1])

    def close(self) -> None:
        """Take no further connections."""
        self._over.set()
        self._thread.join()
        self._listening.close()


def _receive(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data and (chunk := connection.recv(65_536)):
        data += chunk
    return data


@contextmanager
def hosting(attack: Attack, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Host, PydanticProvider]]:
    host = Host(attack)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{host.url}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", host.url)
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-anthropic")
    provider = PydanticProvider()
    try:
        yield host, provider
    finally:
        provider.close()
        host.close()


def endless(connection: socket.socket, path: str) -> None:
    connection.sendall(STREAM + b"\r\n" + _begin(path))
    text = _more(path, "x" * 1000) * 50
    while True:
        connection.sendall(text)


def endless_line(connection: socket.socket, _path: str) -> None:
    connection.sendall(STREAM + b"\r\ndata: ")
    while True:
        connection.sendall(b"x" * 65_536)


def endless_comments(connection: socket.socket, _path: str) -> None:
    connection.sendall(STREAM + b"\r\n")
    while True:
        connection.sendall(b": still here\n\n" * 4_000)


def endless_error(connection: socket.socket, _path: str) -> None:
    connection.sendall(b"HTTP/1.1 500 Oops\r\ncontent-type: application/json\r\n\r\n")
    while True:
        connection.sendall(b"x" * 65_536)


def endless_headers(connection: socket.socket, _path: str) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in count():
        connection.sendall(b"x-%d: %s\r\n" % (number, b"y" * 4_000))


def long_header(connection: socket.socket, _path: str) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nx: ")
    while True:
        connection.sendall(b"y" * 65_536)


def drip(connection: socket.socket, path: str) -> None:
    connection.sendall(STREAM + b"\r\n")
    for each in _begin(path) + _more(path, "y" * 1_000_000):
        connection.sendall(bytes((each,)))
        time.sleep(0.02)


def drip_head(connection: socket.socket, _path: str) -> None:
    for each in STREAM * 1_000:
        connection.sendall(bytes((each,)))
        time.sleep(0.02)


def silent_stream(connection: socket.socket, path: str) -> None:
    connection.sendall(STREAM + b"\r\n" + _begin(path))
    time.sleep(30)


def _squeeze(before: bytes, repeated: bytes, times: int) -> bytes:
    squeezed = zlib.compressobj(1, wbits=31)
    return b"".join((squeezed.compress(before), *(squeezed.compress(repeated) for _ in range(times)), squeezed.flush()))


@cache
def _make_bomb(path: str) -> bytes:
    return _squeeze(_begin(path), _more(path, "x" * 1_000_000), 300)


def bomb(connection: socket.socket, path: str) -> None:
    data = _make_bomb("messages" if "messages" in path else "chat")
    connection.sendall(STREAM + b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(data) + data)


def bomb_in_error(connection: socket.socket, _path: str) -> None:
    data = _make_bomb("chat")
    head = b"HTTP/1.1 400 No\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(data)
    connection.sendall(head + data)


def old_protocol(connection: socket.socket, path: str) -> None:
    connection.sendall(b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + _begin(path))


def page(connection: socket.socket, _path: str) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 15\r\n\r\n<p>Log in.</p>\r\n")


def no_http(connection: socket.socket, _path: str) -> None:
    connection.sendall(b"\x16\x03\x01 this is no HTTP at all\r\n\r\n")


def nothing(_connection: socket.socket, _path: str) -> None:
    """Close the connection at once."""


def reset(connection: socket.socket, path: str) -> None:
    connection.sendall(STREAM + b"\r\n" + _begin(path))
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def bad_chunk(connection: socket.socket, _path: str) -> None:
    connection.sendall(STREAM + b"transfer-encoding: chunked\r\n\r\nzz\r\n")


def short(connection: socket.socket, path: str) -> None:
    connection.sendall(STREAM + b"content-length: 1000000\r\n\r\n" + _begin(path))


def no_text(connection: socket.socket, _path: str) -> None:
    connection.sendall(STREAM + b"\r\ndata: \xff\xfe\x00\n\n" + b"data: {\n\n")


def deep(connection: socket.socket, path: str) -> None:
    connection.sendall(STREAM + b"\r\n" + _begin(path) + b"data: " + b"[" * 100_000 + b"\n\n")


def odd_values(connection: socket.socket, _path: str) -> None:
    for each in ("[]", "null", "1", '"x"', '{"choices": 5}', '{"type": 7}', '{"choices": [null]}'):
        connection.sendall(STREAM * (each == "[]") + b"\r\n" * (each == "[]") + f"data: {each}\n\n".encode())


def redirect_to_itself(connection: socket.socket, path: str) -> None:
    connection.sendall(f"HTTP/1.1 307 Go\r\nlocation: {path}\r\ncontent-length: 0\r\n\r\n".encode())


TOO_LONG = "more than 200,000 bytes"
PACKED = "compressed answer without being asked to"
FAULTS: dict[Attack, tuple[ModelFault, str]] = {
    **dict.fromkeys((endless, endless_line, endless_comments, endless_error), (ModelFault.REFUSED, TOO_LONG)),
    **dict.fromkeys((bomb, bomb_in_error), (ModelFault.REFUSED, PACKED)),
    **dict.fromkeys((drip, drip_head, silent_stream), (ModelFault.TIMEOUT, "no response within")),
    **dict.fromkeys((endless_headers, long_header, no_http, nothing), (ModelFault.CONNECTION, "")),
    **dict.fromkeys((old_protocol, page, reset, bad_chunk, short, deep, odd_values), (ModelFault.CONNECTION, "")),
    no_text: (ModelFault.CONNECTION, "not in the format of the provider: Failed to decode"),
    redirect_to_itself: (ModelFault.REFUSED, "307"),
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("attack", FAULTS, ids=lambda each: each.__name__)
def test_every_request_ends_with_a_fault(attack: Attack, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault, why = FAULTS[attack]
    monkeypatch.setattr(pydantic_provider, "_LONGEST", 200_000)
    limits = ModelLimits(0.5 if fault is ModelFault.TIMEOUT else 30.0)
    with hosting(attack, monkeypatch) as (host, provider):
        provider.prepare(model)
        with pytest.raises(ModelError) as caught:
            provider.request("k", ModelRequest(model, HELLO, limits=limits))
    assert (caught.value.fault, len(host.heads)) == (fault, 1)
    assert why in str(caught.value)
    assert "key-of-" not in str(caught.value)


def test_a_host_takes_no_notice_of_who_connects_and_asks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with hosting(nothing, monkeypatch) as (host, provider):
        for said in (b"", b"POST /v1/chat"):
            with socket.create_connection(("127.0.0.1", int(host.url.rpartition(":")[2]))) as silent:
                silent.sendall(said)
                silent.shutdown(socket.SHUT_WR)
                assert silent.recv(1) == b""
        with pytest.raises(ModelError):
            provider.request("k", ModelRequest(MODELS[0], HELLO))
        assert len(host.heads) == 1


@pytest.mark.parametrize("model", MODELS)
def test_nobody_else_is_asked_with_the_key(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Host(nothing)) as other:

        def away(connection: socket.socket, path: str) -> None:
            head = f"HTTP/1.1 307 Go\r\nlocation: {other.url}{path}\r\ncontent-length: 0\r\n\r\n"
            connection.sendall(head.encode())

        with hosting(away, monkeypatch) as (_, provider), pytest.raises(ModelError, match="307"):
            provider.request("k", ModelRequest(model, HELLO))
    assert other.heads == []
