"""One session of Claude Code with a model on this machine: the loaded files, and the tools of its agents."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from stagec.core.value import value

PACKAGE = "@anthropic-ai/claude-code@2.1.332"
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
_LONGEST = 900
"""Seconds of a session, which starts 40 agents at most."""
_COMPLAINT = re.compile(r"Invalid setting skipped[^:]*: [^:]*/(?P<file>[\w.]+): (?P<path>\S+): (?P<told>.*)")


@value
class ClaudeSession:
    """The names of agents and skills that were loaded, and those that a user may call.

    `started` has the tools of each agent that ran and its effort, `refused` the reason of each that did not.
    `complaints` are what it says of settings: the name of a file, the path of a value, and the sentence.
    """

    tools: frozenset[str]
    agents: frozenset[str]
    skills: frozenset[str]
    commands: frozenset[str]
    started: Mapping[str, tuple[tuple[str, ...], str | None]]
    refused: Mapping[str, str]
    complaints: tuple[tuple[str, str, str], ...]


def run_session(program: Path, root: Path, home: Path, agents: Sequence[str] = ()) -> ClaudeSession:
    """Run one session in a project, with a home of its own and no hooks, in which a model starts some agents."""
    (home / ".claude").mkdir(parents=True, exist_ok=True)
    (home / ".claude/settings.json").write_text('{"disableAllHooks": true}', encoding="utf-8")
    log = home / "debug.log"
    servers = {"mcpServers": {SERVER: {"command": sys.executable, "args": ["-c", _SERVER]}}}
    with _serve(agents) as (address, requests):
        done = subprocess.run(
            [
                *(program, "-p", _ASKED, "--output-format", "stream-json", "--verbose"),
                *("--mcp-config", json.dumps(servers), "--debug-file", log),
            ],
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
            timeout=_LONGEST,
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
        tuple(_list_complaints(log)),
    )


def _list_complaints(log: Path) -> Iterator[tuple[str, str, str]]:
    for each in _COMPLAINT.finditer(log.read_text(encoding="utf-8")):
        yield each["file"], each["path"], each["told"]


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
