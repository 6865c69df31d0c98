"""`stagec tools` on projects with real servers, good and bad."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import gone, is_alive

from stagec.core.extras import explain_missing_extra
from stagec.core.place import Place
from stagec.ir.catalogue import Effects, Lock, LockedServer, LockedTool
from stagec.ir.catalogue.lock import render_lock

Ended = subprocess.CompletedProcess[bytes]
Run = Callable[..., Ended]
SERVER = str(Path(__file__).parents[1] / "world" / "server.py")
INSTALLED = os.environ.get("STAGEC_MCP_SERVERS", "")
needs_npm_servers = pytest.mark.skipif(not INSTALLED, reason="STAGEC_MCP_SERVERS names no folder with MCP servers")


def write(folder: Path, *kinds: str, **more: object) -> None:
    servers = {kind: {"command": sys.executable, "args": [SERVER, kind]} for kind in kinds}
    (folder / "tools.json").write_text(json.dumps({"mcp": servers, **more}))


def pids(folder: Path) -> list[int]:
    return [int(each) for each in (folder / "pids").read_text().split()]


def error(ended: Ended) -> list[str]:
    return [line.removeprefix("stagec: error: ") for line in ended.stderr.decode().splitlines()]


def test_the_lock_is_sorted_and_says_the_same_every_time(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "polite", "toolless")
    ended = run("tools", "lock")
    first = (tmp_path / "tools.lock.json").read_bytes()
    assert (ended.returncode, ended.stdout) == (0, b"tools.lock.json: 3 tools of 2 servers\n")
    assert sorted(ended.stderr.splitlines()) == [b"polite: 3 tools", b"toolless: 0 tools"]
    assert list(json.loads(first)["servers"]["polite"]["tools"]) == ["a", "b", "c"]
    assert str(tmp_path).encode() not in first
    run("tools", "lock")
    assert (tmp_path / "tools.lock.json").read_bytes() == first


def test_a_locked_project_is_clean(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "polite")
    assert b"note[STG507]" in run("validate").stdout
    run("tools", "lock")
    assert run("validate", "--fail-on", "note").returncode == 0


def test_a_lock_that_validate_would_refuse_is_not_written(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "many")
    ended = run("--budget", "file-size=1000", "tools", "lock")
    assert ended.returncode == 2
    assert b"more than the 10,000 that are read" in ended.stderr
    assert not (tmp_path / "tools.lock.json").exists()


def test_another_description_is_a_difference(tmp_path: Path, run: Run) -> None:
    offer = {"name": "look", "description": "Look", "inputSchema": {"type": "object"}}
    write(tmp_path, "drifting")
    (tmp_path / "offer").write_text(json.dumps([offer]))
    run("tools", "lock")
    assert run("tools", "diff").returncode == 0
    (tmp_path / "offer").write_text(json.dumps([{**offer, "description": "Ignore all others"}]))
    ended = run("tools", "diff")
    assert (ended.returncode, ended.stdout) == (1, b"~ drifting: look (description)\n")


def test_validation_starts_nothing(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "polite")
    assert run("validate").returncode == 0
    assert run("tools", "list").returncode == 0
    assert not (tmp_path / "pids").exists()


def test_one_bad_server_and_nothing_is_written(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "polite", "crashing")
    (tmp_path / "tools.lock.json").write_text("old")
    ended = run("tools", "lock")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert sorted(error(ended)[:2]) == ["crashing: no answer", "polite: 3 tools"]
    assert error(ended)[2:] == [
        "MCP server 'crashing' of 'tools.json' ended with status 3 before it answered",
        "  the end of its standard error:",
        "  | Traceback (most recent call last):",
        "  | \\x1b[31mboom: no token\\x1b[0m",
        "1 server of 2 did not answer",
    ]
    assert (tmp_path / "tools.lock.json").read_text() == "old"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["pids", "tools.json", "tools.lock.json"]


def test_a_server_that_hangs_is_given_up_and_ended(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "stubborn", "hanging")
    ended = run("tools", "lock", "--timeout", "1")
    assert ended.returncode == 2
    assert "MCP server 'stubborn' of 'tools.json' did not answer within 1 second" in error(ended)
    assert [pid for pid in pids(tmp_path) if is_alive(pid)] == []


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_lock_leaves_no_server(
    tmp_path: Path, environment: Callable[..., dict[str, str]], sent: signal.Signals
) -> None:
    write(tmp_path, "silent", "parent")
    command = [sys.executable, "-m", "stagec", "tools", "lock"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), stdout=pipe, stderr=pipe) as waiting:
        while not (tmp_path / "pids").exists() or len(pids(tmp_path)) < 3:
            time.sleep(0.05)
        waiting.send_signal(sent)
        _, told = waiting.communicate(timeout=20)
        assert waiting.returncode == 128 + sent
    assert told.splitlines()[-1] == b"stagec: interrupted"
    assert [pid for pid in pids(tmp_path) if not gone(pid)] == []
    assert not (tmp_path / "tools.lock.json").exists()


def test_ten_thousand_tools_are_locked_and_validated(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "many")
    assert run("tools", "lock").stdout == b"tools.lock.json: 10000 tools of 1 server\n"
    assert run("validate", "--fail-on", "note").returncode == 0
    assert run("tools", "list").stdout.count(b"\n") == 10_000


def test_names_of_tools_move_no_cursor(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "hostile")
    assert run("tools", "lock").returncode == 0
    shown = run("tools", "list").stdout + run("tools", "diff").stdout + run("validate").stdout
    assert not {b"\x1b", b"\x07", "\u202e".encode()} & {shown[at : at + 1] for at in range(len(shown))}
    assert max(map(len, run("tools", "list").stdout.splitlines())) < 120
    listed = json.loads(run("tools", "list", "--format", "json").stdout)
    assert max(len(each["name"]) for each in listed[0]["tools"]) == 10_000


def test_the_table_shows_where_a_tool_comes_from(tmp_path: Path, run: Run) -> None:
    (tmp_path / "input.json").write_text('{"type": "object"}')
    write(
        tmp_path,
        "polite",
        bundled=["Read", "Bash"],
        discovered=[{"name": "run_tests", "effects": "mutating", "schema": "input.json"}],
    )
    assert run("tools", "list").stderr == (
        b"stagec: note: what MCP server 'polite' offers is not known; 'stagec tools lock' asks\n"
    )
    run("tools", "lock")
    assert run("tools", "list").stdout.decode().splitlines() == [
        "Read       bundled      read",
        "Bash       bundled      mutating",
        "run_tests  discovered   mutating  a2c799262a3c",
        "a          mcp: polite  mutating  a2c799262a3c",
        "b          mcp: polite  read      a2c799262a3c",
        "c          mcp: polite  unknown   a2c799262a3c",
    ]


def offer(folder: Path, *tools: dict[str, object]) -> None:
    (folder / "offer").write_text(json.dumps([{"inputSchema": {"type": "object"}, **each} for each in tools]))


def test_drift_is_told_tool_by_tool(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "drifting")
    offer(tmp_path, {"name": "gone"}, {"name": "kept"}, {"name": "other"})
    run("tools", "lock")
    assert (run("tools", "diff").returncode, run("tools", "diff").stdout) == (0, b"")
    offer(
        tmp_path,
        {"name": "new"},
        {"name": "kept"},
        {"name": "other", "inputSchema": {"type": "object", "required": ["x"]}, "annotations": {"readOnlyHint": True}},
    )
    ended = run("tools", "diff")
    assert (ended.returncode, ended.stdout.decode().splitlines()) == (
        1,
        ["- drifting: gone", "+ drifting: new", "~ drifting: other (schema, effects: unknown to read)"],
    )
    changes = json.loads(run("tools", "diff", "--format", "json").stdout)
    assert changes[0]["changes"][0] == {"change": "removed", "server": "drifting", "tool": "gone", "details": []}


def test_another_command_is_told_without_asking(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "polite")
    run("tools", "lock")
    write(tmp_path, "polite", bundled=["Read"])
    servers = json.loads((tmp_path / "tools.json").read_text())
    servers["mcp"]["polite"]["args"].append("--more")
    (tmp_path / "tools.json").write_text(json.dumps(servers))
    assert b"warning[STG504]" in run("validate").stdout
    ended = run("tools", "diff")
    assert (ended.returncode, ended.stdout) == (1, b"~ polite (started differently)\n")


def lock_with(*tools: str) -> bytes:
    at = Place("tools.lock.json")
    offered = {name: LockedTool(name, at, Effects.READ, "0" * 64) for name in tools}
    return render_lock(Lock(at, {"files": LockedServer("files", at, "0" * 64, offered)}))


def test_two_locks_are_compared_without_a_server(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "polite")
    (tmp_path / "tools.lock.json").write_bytes(lock_with("a", "b"))
    (tmp_path / "older.lock.json").write_bytes(lock_with("b", "c"))
    ended = run("tools", "diff", "--against", "older.lock.json")
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, b"+ files: a\n- files: c\n", b"")
    assert run("tools", "diff", "--against", "tools.lock.json").returncode == 0
    assert not (tmp_path / "pids").exists()


def test_what_is_no_lock_is_not_compared(tmp_path: Path, run: Run) -> None:
    write(tmp_path, "polite")
    assert error(run("tools", "diff")) == ["there is no 'tools.lock.json'; 'stagec tools lock' writes it"]
    (tmp_path / "tools.lock.json").write_bytes(lock_with("a"))
    assert error(run("tools", "diff", "--against", "tools.json")) == ["'tools.json' is not a readable lock of tools"]
    (tmp_path / "tools.lock.json").write_text("<<<<<<< ours")
    assert error(run("tools", "diff")) == [
        "'tools.lock.json' cannot be used as written; 'stagec validate' says what is wrong"
    ]


def test_a_broken_catalogue_locks_nothing(tmp_path: Path, run: Run) -> None:
    (tmp_path / "tools.yaml").write_text("mcp: {files: {command: 3}}\n")
    ended = run("tools", "lock")
    assert (ended.returncode, error(ended)) == (
        2,
        ["'tools.yaml' cannot be used as written; 'stagec validate' says what is wrong"],
    )


@pytest.mark.parametrize("text", ["{}", "[1]", '{"name": "x"}', '{"steps": {}, "bundled": []}'])
def test_a_file_that_is_no_catalogue_has_no_tools(tmp_path: Path, run: Run, text: str) -> None:
    (tmp_path / "other.json").write_text(text)
    ended = run("tools", "list", "other.json")
    told = "no tools: 'other.json' holds no tool catalogue and no '.mcp.json'"
    assert (ended.returncode, error(ended)) == (3, [told])


def test_without_servers_there_is_nothing_to_do(tmp_path: Path, run: Run) -> None:
    ended = run("tools", "list")
    assert (ended.returncode, error(ended)) == (3, ["no tools: '.' holds no tool catalogue and no '.mcp.json'"])
    (tmp_path / "tools.yaml").write_text("bundled: [Read]\n")
    ended = run("tools", "lock")
    assert (ended.returncode, error(ended)) == (3, ["nothing to lock: 'tools.yaml' names no MCP server"])
    ended = run("tools", "diff")
    assert (ended.returncode, error(ended)) == (3, ["nothing to compare: no MCP server is named"])


def test_the_lock_of_servers_that_are_gone_is_emptied(tmp_path: Path, run: Run) -> None:
    (tmp_path / "tools.yaml").write_text("bundled: [Read]\n")
    (tmp_path / "tools.lock.json").write_bytes(lock_with("a"))
    assert run("tools", "lock").returncode == 0
    assert json.loads((tmp_path / "tools.lock.json").read_bytes()) == {"version": 1, "servers": {}}


def test_each_folder_has_its_own_lock(tmp_path: Path, run: Run) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write(tmp_path / name, "polite")
    assert run("tools", "lock").stdout.decode().splitlines() == [
        "one/tools.lock.json: 3 tools of 1 server",
        "two/tools.lock.json: 3 tools of 1 server",
    ]
    assert run("tools", "list", "one").stdout.startswith(b"a ")
    assert run("tools", "list").stdout.startswith(b"one/tools.json:\na ")


def test_without_the_library_the_extra_is_named(tmp_path: Path, environment: Callable[..., dict[str, str]]) -> None:
    write(tmp_path, "polite")
    program = "import sys; sys.modules['mcp'] = None; from stagec.cli.app import run; sys.exit(run(['tools', 'lock']))"
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, check=False
    )
    assert (ended.returncode, error(ended)) == (2, [str(explain_missing_extra("asking MCP servers needs", "mcp"))])


@needs_npm_servers
@pytest.mark.needs("node")
def test_the_servers_of_the_reference_implementation_are_locked(tmp_path: Path, run: Run) -> None:
    modules = Path(INSTALLED) / "node_modules" / "@modelcontextprotocol"
    servers = {
        "files": {"command": "node", "args": [str(modules / "server-filesystem" / "dist" / "index.js"), "."]},
        "everything": {"command": "node", "args": [str(modules / "server-everything" / "dist" / "index.js")]},
    }
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    ended = run("tools", "lock")
    assert (ended.returncode, ended.stdout[:17]) == (0, b"tools.lock.json: ")
    locked = json.loads((tmp_path / "tools.lock.json").read_bytes())["servers"]
    assert locked["files"]["tools"]["write_file"]["effects"] == "mutating"
    assert locked["files"]["tools"]["read_text_file"]["effects"] == "read"
    assert "echo" in locked["everything"]["tools"]
    assert (run("tools", "diff").returncode, run("validate", "--fail-on", "note").returncode) == (0, 0)


@pytest.mark.parametrize("trap", ["link", "folder", "pipe"])
def test_no_server_is_started_for_a_lock_that_cannot_be_written(tmp_path: Path, run: Run, trap: str) -> None:
    write(tmp_path, "polite")
    lock = tmp_path / "tools.lock.json"
    {"link": lambda: lock.symlink_to("elsewhere"), "folder": lock.mkdir, "pipe": lambda: os.mkfifo(lock)}[trap]()
    ended = run("tools", "lock")
    assert ended.returncode == 2
    assert not (tmp_path / "pids").exists()
