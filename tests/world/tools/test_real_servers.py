"""MCP servers that people use, through whole runs: locked, compiled, called, granted, denied, and changed.

Those from npm are in the folder that STAGEC_MCP_SERVERS names; the one in Python is written with the official library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nursery
import pytest
from playable import steps
from processes import gone

from stagec.core.json import Json, Object
from stagec.core.secrets import Redactor
from stagec.core.value import replace, value
from stagec.ir.plan import document
from stagec.runtime.world.tools.mcp_tools import McpTools, ServerLimits
from stagec.runtime.world.tools.toolbox import Toolbox

INSTALLED = os.environ.get("STAGEC_MCP_SERVERS", "")
needs_npm_servers = pytest.mark.skipif(not INSTALLED, reason="STAGEC_MCP_SERVERS names no folder with MCP servers")
NOTES = """
import asyncio, os
from pathlib import Path
from mcp.server.mcpserver import MCPServer

Path("pid").write_text(str(os.getpid()))
server = MCPServer("notes")

@server.tool()
def read_note(name: str) -> str:
    return Path(name).read_text()

@server.tool()
def write_note(name: str, text: str) -> str:
    Path(name).write_text(text)
    return "written"

@server.tool()
def forget_note(name: str) -> str:
    raise OSError("never called")

@server.tool()
def tell_all(size: int) -> str:
    return "x" * size

@server.tool()
async def rest(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return "rested"

@server.tool()
def leave() -> str:
    os._exit(3)

server.run()
"""
STAGE = """---
id: {id}
name: A stage
allowedTools: [{tools}]
completionTool: submit
completionSchema: {{type: object}}
turnCap: 4
retryPolicy: {{maxAttempts: 1, backoff: none}}
resolutionPolicy: fail
---
Do it.
"""
PIPELINE = 'id: p\nname: Two\nversion: 1.0.0\nentry: first\nstages: ["*.md"]\nnext: {first: second}\n'


@value
class Sample:
    """A server, and calls of it: one that its stage allows, one that only the next stage allows, and what they say."""

    command: tuple[str, ...]
    allowed: tuple[str, Json, str]
    granted: tuple[str, Json, str]
    denied: tuple[str, Json]


def _make_samples(folder: Path) -> dict[str, Sample]:
    programs = Path(INSTALLED, "node_modules", ".bin")
    note, new = str(folder / "note.txt"), str(folder / "new.txt")
    return {
        "python": Sample(
            (sys.executable, "notes.py"),
            ("read_note", {"name": note}, "remember"),
            ("write_note", {"name": new, "text": "x"}, "written"),
            ("forget_note", {"name": note}),
        ),
        "filesystem": Sample(
            (str(programs / "mcp-server-filesystem"), str(folder)),
            ("read_text_file", {"path": note}, "remember"),
            ("write_file", {"path": new, "content": "x"}, "Successfully wrote"),
            ("move_file", {"source": note, "destination": new}),
        ),
        "everything": Sample(
            (str(programs / "mcp-server-everything"), "stdio"),
            ("echo", {"message": "remember"}, "Echo: remember"),
            ("get-sum", {"a": 1, "b": 2}, "is 3"),
            ("get-env", {}),
        ),
    }


def _stagec(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    ended = nursery.run(words, folder, nursery.inherit())
    return subprocess.CompletedProcess(ended.args, ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def _write_project(folder: Path, sample: Sample) -> None:
    allowed, granted, denied = sample.allowed, sample.granted, sample.denied
    (folder / "notes.py").write_text(NOTES)
    (folder / "note.txt").write_text("remember")
    program, *arguments = sample.command
    (folder / "tools.json").write_text(json.dumps({"mcp": {"s": {"command": program, "args": arguments}}}))
    (folder / "pipeline.yaml").write_text(PIPELINE)
    (folder / "first.md").write_text(STAGE.format(id="first", tools=allowed[0]))
    (folder / "second.md").write_text(STAGE.format(id="second", tools=f"{granted[0]}, {denied[0]}"))
    calls: Json = [{"tool": each[0], "arguments": each[1]} for each in (allowed, granted, denied)]
    turns: Json = {"first": [{"calls": calls}, {"complete": {}}], "second": [{"complete": {}}]}
    (folder / "scenario.json").write_text(json.dumps({"conversations": turns, "grants": [granted[0]]}))


_MARKS = (needs_npm_servers, pytest.mark.needs("node"))
KINDS = ["python", *(pytest.param(each, marks=_MARKS) for each in ("filesystem", "everything"))]


@pytest.fixture(params=KINDS)
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> Sample:
    found = _make_samples(tmp_path)[request.param]
    _write_project(tmp_path, found)
    assert _stagec(tmp_path, "tools", "lock").returncode == 0
    return found


def _run(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    compiled = _stagec(folder, "compile", "pipeline.yaml", "-o", f"{name}.json")
    assert compiled.returncode == 0, compiled.stdout + compiled.stderr
    options = ("--scenario", "scenario.json", "--servers", "--events", "jsonl", "--run", name)
    return _stagec(folder, "run", f"{name}.json", *options)


def test_a_run_calls_what_its_stage_allows_or_people_grant(sample: Sample, tmp_path: Path) -> None:
    told = _run(tmp_path, "one")
    assert told.returncode == 0, told.stderr
    events = [json.loads(line) for line in told.stdout.splitlines()]
    ends = ("ToolInvocationSucceeded", "ToolInvocationFailed", "ToolCallDenied")
    found = {each["tool"]: each["event"] for each in events if each["event"] in ends}
    assert found == {sample.allowed[0]: ends[0], sample.granted[0]: ends[0], sample.denied[0]: ends[2]}
    journal = _stagec(tmp_path, "runs", "export", "one").stdout
    assert sample.allowed[2] in journal
    assert sample.granted[2] in journal


@pytest.mark.parametrize("sample", KINDS[1:], indirect=True)
def test_a_server_that_differs_from_the_lock_begins_no_run(sample: Sample, tmp_path: Path) -> None:
    lock = json.loads((tmp_path / "tools.lock.json").read_text())
    lock["servers"]["s"]["tools"][sample.allowed[0]]["schema"] = "0" * 64
    (tmp_path / "tools.lock.json").write_text(json.dumps(lock))
    told = _run(tmp_path, "two")
    assert told.returncode == 2
    assert f"{sample.allowed[0]!r} has another input schema" in told.stderr
    assert not (tmp_path / ".stagec" / "runs" / "two.run").exists()


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[tuple[McpTools, Callable[..., Object]]]:
    (tmp_path / "notes.py").write_text(NOTES)
    (tmp_path / "note.txt").write_text("remember")
    names = ("read_note", "tell_all", "rest", "leave")
    tools = {each: document.Tool("mcp", "unknown", "s") for each in names}
    server = document.Server(command=sys.executable, args=("notes.py",))
    plan = replace(steps(), servers={"s": server}, tools=tools)
    source = McpTools(plan, str(tmp_path), ServerLimits(call=15, again=0.01))
    toolbox = Toolbox(plan, (source,), Redactor())
    yield source, lambda tool, **arguments: toolbox.call("r/a#1/1.0", tool, arguments)
    process = int((tmp_path / "pid").read_text())
    source.close()
    assert gone(process)


def _explain(told: Object) -> str:
    error = told["error"]
    assert isinstance(error, dict)
    return f"{error['code']}: {error['message']}"


def test_whatever_a_server_does_the_next_call_is_answered(
    notes: tuple[McpTools, Callable[..., Object]], tmp_path: Path
) -> None:
    _, call = notes
    assert call("read_note", name="note.txt") == {"value": {"result": "remember"}}
    assert _explain(call("read_note")).startswith("InvalidArguments: ")
    assert _explain(call("read_note", name="none.txt")).startswith("Failed: ")
    before = (tmp_path / "pid").read_text()
    told = str(call("tell_all", size=1_000_000)["value"])
    assert 100_000 < len(told) < 101_000
    too_long = "Failed: the server answered with error -32000: the answer has more than 16,000,000 bytes"
    assert _explain(call("tell_all", size=17_000_000)) == too_long
    assert call("read_note", name="note.txt") == {"value": {"result": "remember"}}
    assert (tmp_path / "pid").read_text() == before
    assert "ended during the call" in _explain(call("leave"))
    assert call("read_note", name="note.txt") == {"value": {"result": "remember"}}
    assert (tmp_path / "pid").read_text() != before
