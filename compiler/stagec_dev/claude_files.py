"""Agents and skills of Claude Code with right and wrong values: what a session makes of them, and what stagec says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Diagnostic
from stagec.core.value import value
from stagec.languages.agent_files.known import CLAUDE_CODE, is_off, read_data
from stagec.sources.project.configuration import configure

PACKAGE = "@anthropic-ai/claude-code@2.1.332"
_BATCH = 40
_VALUES: Sequence[Any] = (
    *("x", "", " ", "1", "true", "no", 1, 1.5, -1, 0, True, False, None, [], ["a"], ["a", "b"], [1], [[1]]),
    *({}, {"a": "b"}, {"a": 1}, {"a": []}, {"a": {"command": "c"}}),
)
Head = Mapping[str, Any]


@value
class LoadedKind:
    """A kind of files of which a session lists what it has loaded: where they are, and how one is judged.

    `measured` and `told` return short sentences about a file, from a session and from stagec; `None` from the first
    is what the session does not show.
    """

    file: str
    heads: Callable[[], Iterator[Head]]
    starts: bool
    measured: Callable[[str, Head, ClaudeSession], frozenset[str] | None]
    told: Callable[[Head, Sequence[Diagnostic]], frozenset[str]]


def compare(program: Path, kind: LoadedKind, heads: Sequence[Head]) -> Iterator[str]:
    """Yield a line for each file of which a session shows something else than stagec says."""
    for start in range(0, len(heads), _BATCH):
        with TemporaryDirectory() as folder:
            root, home = Path(folder, "project"), Path(folder, "home")
            (root / ".git").mkdir(parents=True)
            batch = {f"m{start + index}": head for index, head in enumerate(heads[start : start + _BATCH])}
            for name, head in batch.items():
                file = root / kind.file.format(name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(_write({"name": name, "description": "d", **head}, name), encoding="utf-8")
            session = run_session(program, root, home, tuple(batch) if kind.starts else ())
            found = configure((root,))
            diagnostics = compile_project(Project(found.root, (root,), found.settings)).diagnostics
        for name, head in batch.items():
            measured = kind.measured(name, head, session)
            told = kind.told(head, [each for each in diagnostics if each.at.file == kind.file.format(name)])
            if measured is not None and measured != told:
                why = session.refused.get(name, "")[:200]
                yield f"{json.dumps(head)}: stagec {sorted(told)}, claude {sorted(measured)} {why}".rstrip()


def _write(head: Head, name: str) -> str:
    lines = (f"{key}: {json.dumps(each)}\n" for key, each in head.items())
    return "".join(("---\n", *lines, "---\n", MARK.format(name), "\n"))


_TOOLS = re.compile(r"(?:[^\s,()]|\([^()]*\)?)+")
_LOST = "is not loaded"
_EMPTY = "has no tools"
_UNDENIED = "denies nothing"
_EFFORT = "its effort is ignored"
_SESSION_EFFORT = "medium"


def _list_agents() -> Iterator[Head]:
    for key in read_data()[CLAUDE_CODE]["keys"]["agent"]:
        for each in _VALUES:
            if key != "name" or not isinstance(each, str) or not each.strip():  # another name is another agent
                yield {key: each}
    yield from ({"name": name} for name in (":x", "a:b", "-a", "a b", "A"))
    yield from _list_tools()
    for effort in (
        "low",
        "MAX",
        "1x",
        "x1",
        "1.5",
        "-1",
        "1e2",
        "0x10",
        "+1",
        " low ",
        ["low"],
        ["low", "x"],
        [["max"]],
    ):
        yield {"effort": effort}
    for entry in _list_entries():
        yield {"hooks": {"PreToolUse": entry}}
        yield {"hooks": {"Stop": entry}}


def _list_tools() -> Iterator[Head]:
    """Yield agents with every tool that stagec knows, with those of servers in each spelling, and with others."""
    data, one = read_data()[CLAUDE_CODE], f"mcp__{SERVER}__one"
    parts = ("", "*", SERVER, f"{SERVER}*", f"{SERVER}__", f"{SERVER}__*", f"{SERVER}__o*", f"{SERVER}__**")
    servers = [one, *(f"mcp__{part}" for part in (*parts, "*__one", "*__*"))]
    names = [*data["tools"], *data["tool-aliases"], *data["gone-tools"], *servers, "*", "read", "Nope", "Bash(ls *)"]
    for name in (each for each in names if each != "ToolSearch"):  # which is there if others wait to be found
        yield {"tools": [name]}
        yield {"tools": f"Read, {name}"}
    yield from ({"tools": [one, "Read"], "disallowedTools": [name]} for name in servers)
    yield from ({"tools": text} for text in ("Read,,Grep", ",", "Read Grep", "Read(", "Read(x, y), Grep", "read, Nope"))


def _list_entries() -> Iterator[Any]:
    """Yield the values that an event of hooks may have."""
    hook = {"type": "command", "command": "true"}
    yield from _VALUES
    for each in _VALUES:
        yield from ([each], [{"hooks": each}], [{"hooks": [each]}], [{"hooks": [hook], "matcher": each}])
        for key in ("type", "command", "timeout", "once", "if", "statusMessage", "async", "shell", "args"):
            yield [{"hooks": [{**hook, key: each}]}]
        for other in ({"type": "prompt", "prompt": each}, {"type": "http", "url": each}, {"type": "agent", "x": each}):
            yield [{"hooks": [other]}]


def _measure_agent(name: str, head: Head, session: ClaudeSession) -> frozenset[str] | None:
    called = head.get("name", name)
    if not isinstance(called, str) or called not in session.agents:
        return frozenset({_LOST})
    if name not in session.started:
        why = session.refused.get(name, "")
        names = _TOOLS.findall(why.partition("[")[2].partition("]")[0])
        is_absent = "zero tools" not in why or any(each.partition("(")[0] in _list_known() for each in names)
        return None if is_absent and "not available to subagents" not in why else frozenset({_EMPTY})
    tools, effort = session.started[name]
    found = set() if tools else {_EMPTY}
    if {"tools", "disallowedTools"} <= head.keys() and f"mcp__{SERVER}__one" in tools:
        found.add(_UNDENIED)
    if head.get("effort") is not None and effort == _SESSION_EFFORT:
        found.add(_EFFORT)
    return frozenset(found)


def _list_known() -> frozenset[str]:
    """Return the tools that Claude Code has in some sessions."""
    return frozenset(read_data()[CLAUDE_CODE]["tools"])


_OF_LOSS = frozenset({"STG3106", "STG3107", "STG3108", "STG3115"})
_OF_TOOLS = frozenset({"STG3110", "STG3111"})


def _tell_agent(head: Head, said: Sequence[Diagnostic]) -> frozenset[str]:
    codes = {each.code for each in said}
    if codes & _OF_LOSS:
        return frozenset({_LOST})
    found = {_EMPTY} if codes & _OF_TOOLS else {_UNDENIED} if "tools" in head and "STG3141" in codes else set()
    if not found and any(each.code == "STG3117" and "'effort'" in each.message for each in said):
        found.add(_EFFORT)
    return frozenset(found)


_HIDDEN, _UNDESCRIBED = "is not shown to users", "has no description for the model"


def _list_skills() -> Iterator[Head]:
    for key in read_data()[CLAUDE_CODE]["keys"]["skill"]:
        yield from ({key: each} for each in _VALUES)


def _measure_skill(name: str, head: Head, session: ClaudeSession) -> frozenset[str] | None:
    if "paths" in head:  # such a skill is shown when its files are read
        return None
    if name not in session.commands:
        return frozenset({_HIDDEN})
    return frozenset({_UNDESCRIBED} if name not in session.skills else ())


def _tell_skill(head: Head, said: Sequence[Diagnostic]) -> frozenset[str]:
    is_taken_for_off = any("reads this switch as off: 'user-invocable'" in each.message for each in said)
    if is_taken_for_off or ("user-invocable" in head and is_off(head["user-invocable"])):
        return frozenset({_HIDDEN})
    is_lost = any(each.code == "STG3125" or "drops this value: 'description'" in each.message for each in said)
    return frozenset({_UNDESCRIBED} if is_lost else ())


LOADED: Mapping[str, LoadedKind] = {
    "agent": LoadedKind(".claude/agents/{}.md", _list_agents, True, _measure_agent, _tell_agent),
    "skill": LoadedKind(".claude/skills/{}/SKILL.md", _list_skills, False, _measure_skill, _tell_skill),
}


MARK = "You are the agent {}."
"""The text of an agent by which its requests are known."""
_ASKED = "Start every agent."
_SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    name = {"initialize": "capabilities", "tools/list": "tools"}.get(asked["method"])
    told = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    if name == "tools":
        told = {"tools": [{"name": each, "inputSchema": {"type": "object"}} for each in ("one", "other")]}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told if name else {}}), flush=True)
"""
"""A server of tools with two tools."""
SERVER = "s"


@value
class ClaudeSession:
    """The names of agents and skills that were loaded, and those that a user may call.

    `started` has the tools of each agent that ran and its effort, `refused` the reason of each that did not.
    """

    tools: frozenset[str]
    agents: frozenset[str]
    skills: frozenset[str]
    commands: frozenset[str]
    started: Mapping[str, tuple[tuple[str, ...], str | None]]
    refused: Mapping[str, str]


def run_session(program: Path, root: Path, home: Path, agents: Sequence[str] = ()) -> ClaudeSession:
    """Run one session in a project, with a home of its own and no hooks, in which a model starts some agents."""
    (home / ".claude").mkdir(parents=True, exist_ok=True)
    (home / ".claude/settings.json").write_text('{"disableAllHooks": true}', encoding="utf-8")
    servers = {"mcpServers": {SERVER: {"command": sys.executable, "args": ["-c", _SERVER]}}}
    with _serve(agents) as (address, requests):
        done = subprocess.run(
            [program, "-p", _ASKED, "--output-format", "stream-json", "--verbose", "--mcp-config", json.dumps(servers)],
            cwd=root,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "ANTHROPIC_BASE_URL": address,
                "ANTHROPIC_API_KEY": "none",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS": "1000",
                "DISABLE_AUTOUPDATER": "1",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    begun = next((each for each in events if each.get("subtype") == "init"), None)
    if begun is None:
        message = f"{program} did not start a session: {(done.stdout + done.stderr)[-500:]}"
        raise RuntimeError(message)
    return ClaudeSession(
        frozenset(begun["tools"]),
        frozenset(begun["agents"]),
        frozenset(begun["skills"]),
        frozenset(begun["slash_commands"]),
        dict(_list_started(requests, agents)),
        dict(_list_refused(events)),
    )


def _list_started(
    requests: Sequence[Mapping[str, Any]], agents: Sequence[str]
) -> Iterator[tuple[str, tuple[tuple[str, ...], str | None]]]:
    for request in requests:
        system = json.dumps(request.get("system"))
        for name in agents:
            if MARK.format(name) in system:
                tools = tuple(each["name"] for each in request.get("tools", ()))
                yield name, (tools, request.get("output_config", {}).get("effort"))


def _list_refused(events: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for event in events:
        for part in event["message"]["content"] if event.get("type") == "user" else ():
            if isinstance(part, dict) and part.get("is_error"):
                yield part["tool_use_id"], str(part["content"])


@contextmanager
def _serve(agents: Sequence[str]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Serve a model that starts some agents at its first turn and ends every other one; yield its address."""
    requests: list[Mapping[str, Any]] = []

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("content-length", 0)))
            if not self.path.partition("?")[0].endswith("/messages"):
                self.send_error(404)
                return
            request = json.loads(data)
            requests.append(request)
            asked = request["messages"]
            is_first = _ASKED in json.dumps(asked) and not any(each["role"] == "assistant" for each in asked)
            blocks = [_start(name) for name in agents] if is_first else []
            answer = _spell(blocks or [{"type": "text", "text": "Done."}], "tool_use" if blocks else "end_turn")
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()


def _start(name: str) -> dict[str, Any]:
    given = {"description": "d", "prompt": "Go.", "subagent_type": name, "run_in_background": False}
    return {"type": "tool_use", "id": name, "name": "Agent", "input": given}


def _spell(blocks: Sequence[Mapping[str, Any]], reason: str) -> bytes:
    """Return an answer as the events of a stream."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    about: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": "none", "content": []}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**about, "usage": usage}}]
    for index, block in enumerate(blocks):
        is_text = block["type"] == "text"
        begin = {**block, "text": ""} if is_text else {**block, "input": {}}
        delta = (
            {"type": "text_delta", "text": block["text"]}
            if is_text
            else {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        )
        events += [
            {"type": "content_block_start", "index": index, "content_block": begin},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    events += [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events).encode()
