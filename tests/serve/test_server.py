"""The server as a process: its one line, its end, and what keeps it from beginning."""

from __future__ import annotations

import asyncio
import json
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from campaigns import choose

from stagec.cli.app import run
from stagec.cli.running import serve_request
from stagec.core.extras import explain_missing_extra
from stagec.runtime.serve import server as connections


@contextmanager
def get(served: Any, path: str) -> Iterator[HTTPResponse]:
    with closing(HTTPConnection(served.host.removeprefix("http://"), timeout=30)) as connection:
        connection.request("GET", path, headers={"Authorization": f"Bearer {served.token}"})
        yield connection.getresponse()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_server_and_its_streams(
    serving: Callable[..., Any], tmp_path: Path, number: signal.Signals
) -> None:
    served = serving(tmp_path)
    with get(served, "/api/stream") as stream:
        assert stream.readline() == b"retry: 1000\n"
        served.process.send_signal(number)
        assert b"rows" in stream.read(), "it ends as a stream does"
    out, err = served.process.communicate(timeout=30)
    assert served.process.returncode == 0
    assert out == ""
    assert err.splitlines() == [
        "stagec: serving the page; Ctrl-C ends it, and leaves runs alone",
        "stagec: the server has ended",
    ]


def test_a_program_can_ask_with_the_token_in_a_file(serving: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a-token-that-nobody-guesses\n", encoding="utf-8")
    served = serving(tmp_path, "--token-file", "token")
    assert served.address.endswith("/login#a-token-that-nobody-guesses")
    with get(served, "/api/state") as answer:
        assert json.load(answer)["runs"] == []


def test_a_browser_that_is_opened_is_answered_even_while_it_is_waited_for(
    serving: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = tmp_path / "browser"
    browser.write_text(
        f"#!{sys.executable}\nimport sys, urllib.request\n"
        "page = urllib.request.urlopen(sys.argv[1].partition('#')[0], timeout=30).read()\n"
        "open('seen.part', 'w').write(f'{sys.argv[1]} {len(page)}')\n"
        "import os; os.rename('seen.part', 'seen')\n",
        encoding="utf-8",
    )
    browser.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(browser))
    served = serving(tmp_path, "--open")
    until = time.monotonic() + 30
    while not (tmp_path / "seen").exists() and time.monotonic() < until:
        time.sleep(0.05)
    address, _, size = (tmp_path / "seen").read_text(encoding="utf-8").partition(" ")
    assert (address, int(size) > 0) == (served.address, True)


def test_a_machine_without_a_browser_is_told(
    serving: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", "/bin/false")
    monkeypatch.setenv("PATH", str(tmp_path))
    served = serving(tmp_path, "--open")
    with get(served, "/api/state") as answer:
        assert json.load(answer)["runs"] == []
    lines = [served.process.stderr.readline() for _ in range(2)]
    assert lines[1] == "stagec: note: no browser was found: open the address yourself\n"


def test_a_port_that_is_in_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert run(["serve", "--port", str(port)]) == 2
    told = capsys.readouterr()
    assert told.err.startswith(f"stagec: error: cannot listen at '127.0.0.1:{port}': Address already in use; --port")
    assert told.out == ""


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--host", "no such host"], "cannot listen at"),
        (["--token-file", "short"], "the token has 5 characters"),
        (["--token-file", "empty"], "has no token"),
        (["--token-file", "none"], "does not exist"),
        (["--origin", "page.example"], "is not an origin"),
        (["--", "--model", "x:y"], "options of runs need --allow-start"),
        (["--plans", "none"], "does not exist"),
    ],
)
def test_what_keeps_it_from_beginning_is_told(
    tmp_path: Path, options: list[str], why: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "short").write_text("short", encoding="utf-8")
    (tmp_path / "empty").write_text("\n", encoding="utf-8")
    assert run(["serve", "--port", "0", *options]) == 2
    told = capsys.readouterr().err
    assert why in told
    assert "internal" not in told


@pytest.mark.parametrize("library", ["starlette", "uvicorn"])
def test_a_missing_library_names_the_extra(
    library: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve_request, "find_spec", lambda name: None if name == library else object())
    assert run(["serve", "--port", "0"]) == 2
    assert str(explain_missing_extra("serving a page needs", "serve")) in capsys.readouterr().err


def is_open(connection: socket.socket) -> bool:
    """Tell whether the other end waits for more."""
    connection.settimeout(0.05)
    try:
        return connection.recv(1) != b""
    except TimeoutError:
        return True
    except ConnectionResetError:
        return False


@pytest.fixture
def most_files() -> Iterator[tuple[int, int]]:
    """Return how many files a process may open, which is as before afterwards."""
    known = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield known
    resource.setrlimit(resource.RLIMIT_NOFILE, known)


def test_connections_that_send_no_whole_request_make_room_for_those_that_do(
    serving: Callable[..., Any], tmp_path: Path, most_files: tuple[int, int]
) -> None:
    served = serving(tmp_path)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files[1], most_files[1]))  # those of this side all stay open
    host, _, port = served.host.removeprefix("http://").rpartition(":")
    begun = b"GET /api/state HTTP/1.1\r\nHost: x\r\n"
    idle: list[socket.socket] = []
    try:
        for _ in range(choose(250, whole=1_400)):
            idle.append(socket.create_connection((host, int(port)), timeout=30))
            idle[-1].sendall(begun)
        with get(served, "/api/state") as answer:
            assert (answer.status, json.load(answer)["runs"]) == (200, [])
        assert not is_open(idle[0])
        assert is_open(idle[-1])
    finally:
        for each in idle:
            each.close()
    served.process.send_signal(signal.SIGINT)
    told = served.process.communicate(timeout=30)[1].splitlines()
    assert told.count("stagec: more than 100 connections have sent no whole request: the oldest are closed") == 1


def test_a_connection_without_a_whole_request_is_closed_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.05)
    told: list[str] = []

    async def refuse(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def ask(begun: bytes) -> bytes:
        kind = type("Connection", (connections.Connection,), {"room": connections.WaitingRoom(told.append)})
        server = uvicorn.Server(uvicorn.Config(refuse, http=kind, lifespan="off", log_config=None))
        server.config.load()
        loop = asyncio.get_running_loop()
        state = server.server_state
        listening = await loop.create_server(
            lambda: kind(config=server.config, server_state=state, app_state={}), "::1"
        )
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname()[:2])
        writer.write(begun)
        try:
            return await asyncio.wait_for(reader.read(), 30)
        finally:
            writer.close()
            listening.close()

    for begun in (b"", b"GET / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"):
        answer = asyncio.run(asyncio.wait_for(ask(begun), 30))
        assert answer.partition(b"\r\n")[0] == (b"HTTP/1.1 204 No Content" if b"POST" in begun else b"")
