"""Servers that answer, and servers that do everything else."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Thread

import pytest

from stagec.ir.catalogue import CatalogueServer, Effects, LockedServer
from stagec.ir.catalogue.lock import digest
from stagec.runtime.world.mcp import Answer, Question, ServerFailure, ask

MakeServer = Callable[..., CatalogueServer]
Leftovers = Callable[[], list[int]]
REMOTE = Path(__file__).with_name("remote.py")


def quiet(_server: CatalogueServer, _tools: int | None) -> None:
    """Show nothing."""


def asked(server: CatalogueServer, folder: Path, timeout: float = 20) -> Answer:
    (answer,) = ask([Question(server, str(folder), timeout)], quiet, quiet)
    return answer


def trouble(server: CatalogueServer, folder: Path, timeout: float = 20) -> ServerFailure:
    answer = asked(server, folder, timeout)
    assert isinstance(answer, ServerFailure)
    return answer


def names(answer: Answer) -> list[str]:
    assert isinstance(answer, LockedServer), answer
    return list(answer.tools)


def test_a_server_says_what_its_tools_do(server: MakeServer, tmp_path: Path, leftovers: Leftovers) -> None:
    answer = asked(server("polite"), tmp_path)
    assert isinstance(answer, LockedServer)
    assert {name: tool.effects for name, tool in answer.tools.items()} == {
        "a": Effects.MUTATING,
        "b": Effects.READ,
        "c": Effects.UNKNOWN,
    }
    assert {tool.schema for tool in answer.tools.values()} == {digest({"type": "object"})}
    assert leftovers() == []


def test_every_page_is_asked_for(server: MakeServer, tmp_path: Path) -> None:
    seen: list[int] = []
    (answer,) = ask([Question(server("many"), str(tmp_path), 60)], lambda _, tools: seen.append(tools), quiet)
    assert (len(names(answer)), seen[:3], seen[-1]) == (10_000, [0, 500, 1000], 10_000)


def test_a_server_that_knows_only_the_later_protocol_is_asked_in_that(server: MakeServer, tmp_path: Path) -> None:
    assert sorted(names(asked(server("modern"), tmp_path))) == ["a", "b", "c"]


def test_a_server_without_tools_has_none(server: MakeServer, tmp_path: Path) -> None:
    assert names(asked(server("toolless"), tmp_path)) == []


def test_a_line_that_is_no_message_is_passed_over(server: MakeServer, tmp_path: Path) -> None:
    assert sorted(names(asked(server("noisy"), tmp_path))) == ["a", "b", "c"]


def test_names_are_data(server: MakeServer, tmp_path: Path) -> None:
    assert sorted(map(len, names(asked(server("hostile"), tmp_path)))) == [4, 5, 14, 10_000]


def test_the_same_tool_twice_is_one(server: MakeServer, tmp_path: Path) -> None:
    assert names(asked(server("repeated"), tmp_path)) == ["a"]


@pytest.mark.parametrize("kind", ["silent", "stubborn", "hanging"])
def test_a_server_that_hangs_is_ended(server: MakeServer, tmp_path: Path, leftovers: Leftovers, kind: str) -> None:
    assert trouble(server(kind), tmp_path, 1).what == "did not answer within 1 second"
    assert leftovers() == []


def test_a_server_that_only_babbles_is_shown(server: MakeServer, tmp_path: Path, leftovers: Leftovers) -> None:
    assert trouble(server("babbling"), tmp_path, 1).what == (
        "did not answer within 1 second; what it wrote to its standard output is not MCP: 'nothing but words'"
    )
    assert leftovers() == []


def test_a_crash_comes_with_the_end_of_standard_error(server: MakeServer, tmp_path: Path) -> None:
    found = trouble(server("crashing"), tmp_path)
    assert found.what == "ended with status 3 before it answered"
    assert found.said == ("Traceback (most recent call last):", "\x1b[31mboom: no token\x1b[0m")


def test_an_endless_list_has_an_end(server: MakeServer, tmp_path: Path, leftovers: Leftovers) -> None:
    found = trouble(server("looping"), tmp_path)
    assert found.what == "lists its tools without end: the page 'again' is repeated"
    assert leftovers() == []


def test_two_tools_of_one_name_are_refused(server: MakeServer, tmp_path: Path) -> None:
    assert trouble(server("doubled"), tmp_path).what == "lists two different tools 'a'"


def test_an_answer_that_is_not_mcp_is_refused(server: MakeServer, tmp_path: Path) -> None:
    assert trouble(server("senseless"), tmp_path).what.startswith("did not answer as MCP requires: ValidationError: ")


def test_a_line_without_end_is_not_kept(server: MakeServer, tmp_path: Path) -> None:
    endless = server("endless", command="cat", args=("/dev/zero",))
    assert trouble(endless, tmp_path).what.startswith("closed the connection before it answered; what it wrote")


def test_a_program_that_is_not_there_is_named(server: MakeServer, tmp_path: Path) -> None:
    found = trouble(server("missing", command="no-such-program"), tmp_path)
    assert found.what == "cannot be started: No such file or directory: 'no-such-program'"


def test_an_address_where_nobody_listens_is_a_trouble(server: MakeServer, tmp_path: Path) -> None:
    found = trouble(server("far", command=None, url="http://127.0.0.1:9/mcp"), tmp_path)
    assert found.what.startswith("cannot be reached: ConnectError: ")


def test_what_a_server_started_ends_with_it(server: MakeServer, tmp_path: Path, leftovers: Leftovers) -> None:
    assert sorted(names(asked(server("parent"), tmp_path))) == ["a", "b", "c"]
    assert len((tmp_path / "pids").read_text().split()) == 2
    assert leftovers() == []


def test_other_servers_are_still_asked(server: MakeServer, tmp_path: Path, leftovers: Leftovers) -> None:
    kinds = ("crashing", "polite", "silent", "noisy")
    answers = ask([Question(server(each), str(tmp_path), 2) for each in kinds], quiet, quiet)
    assert [type(each) for each in answers] == [ServerFailure, LockedServer, ServerFailure, LockedServer]
    assert leftovers() == []


def test_a_server_sees_of_the_environment_what_it_is_given(
    server: MakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "hidden")
    monkeypatch.setenv("TOKEN", "given")
    asked(server("revealing", env={"API_KEY": "${TOKEN}", "MODE": "${MODE_OF_TEST:-slow}"}), tmp_path)
    seen = json.loads((tmp_path / "environment").read_text())
    assert {name: seen.get(name) for name in ("API_KEY", "MODE", "SECRET", "TOKEN")} == {
        "API_KEY": "given",
        "MODE": "slow",
        "SECRET": None,
        "TOKEN": None,
    }


def test_a_variable_that_is_not_set_is_named(server: MakeServer, tmp_path: Path) -> None:
    found = trouble(server("polite", env={"API_KEY": "${NO_SUCH_TOKEN}"}), tmp_path)
    assert found.what == "refers to '${NO_SUCH_TOKEN}', which is not set"


def test_a_server_starts_in_its_folder(server: MakeServer, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    asked(server("polite", cwd="inside"), tmp_path)
    assert (tmp_path / "inside" / "pids").exists()


@pytest.fixture
def address() -> Iterator[str]:
    """Run a server over HTTP."""
    with subprocess.Popen([sys.executable, str(REMOTE)], stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        yield f"http://127.0.0.1:{int(running.stdout.readline())}/mcp"
        running.terminate()


def test_a_server_elsewhere_is_asked_over_http(server: MakeServer, tmp_path: Path, address: str) -> None:
    there = server("remote", command=None, url=address, headers={"Authorization": "Bearer open"})
    assert names(asked(there, tmp_path)) == ["echo"]


def test_a_server_elsewhere_may_refuse(server: MakeServer, tmp_path: Path, address: str) -> None:
    found = trouble(server("remote", command=None, url=address), tmp_path)
    assert found.what == "answered with error -32603: Server returned an error response (HTTP status 401)"


@pytest.fixture
def pouring() -> Iterator[Callable[[bytes], str]]:
    """Run servers that answer with a head and zeros without end; return their addresses."""
    with ExitStack() as stack:

        def start(head: bytes) -> str:
            listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            Thread(target=pour, args=(listening, head), daemon=True).start()
            return f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"

        yield start


def pour(listening: socket.socket, head: bytes) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.recv(65_536)
                connection.sendall(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n")
                while True:
                    connection.sendall(bytes(1_000_000))


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"Content-Type: application/json", "sends an answer of more than 16,000,000 bytes"),
        (b"Content-Type: text/event-stream", "sends an answer of more than 16,000,000 bytes"),
        (
            b"Content-Type: application/json\r\nContent-Encoding: gzip",
            "sends a compressed answer without being asked to",
        ),
    ],
)
def test_an_answer_without_end_is_not_kept(
    server: MakeServer, tmp_path: Path, pouring: Callable[[bytes], str], head: bytes, what: str
) -> None:
    assert trouble(server("remote", command=None, url=pouring(head)), tmp_path).what == what


def test_what_a_server_says_of_its_secrets_is_redacted(
    server: MakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "of the runner")
    loud = "import sys; sys.exit('first: of the server, second: of the runner')"
    given = server("loud", command=sys.executable, args=("-c", loud), env={"API_KEY": "of the server"})
    assert trouble(given, tmp_path).said == ("first: [redacted], second: [redacted]",)
