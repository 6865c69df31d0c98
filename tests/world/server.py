"""An MCP server over its standard streams that needs nothing but Python and misbehaves as its first argument says.

It appends its process id to the file `pids` in its working folder, so that tests can tell whether it has ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]
PAGE = 500


def tool(name: str, **more: Any) -> Json:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def listed(tools: list[Json], cursor: str | None) -> Json:
    """Return one page of a list."""
    start = int(cursor or 0)
    rest = {"nextCursor": str(start + PAGE)} if start + PAGE < len(tools) else {}
    return {"tools": tools[start : start + PAGE], **rest}


def polite(_: str | None) -> Json:
    reading, writing = {"readOnlyHint": True}, {"readOnlyHint": False}
    return {"tools": [tool("b", annotations=reading), tool("a", annotations=writing), tool("c")]}


def many(cursor: str | None) -> Json:
    return listed([tool(f"tool_{number:05}") for number in range(10_000)], cursor)


def hostile(_: str | None) -> Json:
    return {"tools": [tool("\x1b[2J\x1b]0;title\x07"), tool("x" * 10_000), tool("\u202eflip"), tool('"},{')]}


def looping(_: str | None) -> Json:
    return {"tools": [tool("a")], "nextCursor": "again"}


def doubled(_: str | None) -> Json:
    return {"tools": [tool("a"), tool("a", inputSchema={"type": "object", "required": ["x"]})]}


def repeated(_: str | None) -> Json:
    return {"tools": [tool("a"), tool("a")]}


def drifting(_: str | None) -> Json:
    """Offer what the file `offer` in the working folder says."""
    tools: list[Json] = json.loads(Path("offer").read_text(encoding="utf-8"))
    return {"tools": tools}


def changing(_: str | None) -> Json:
    """Offer what the file `offer` in the working folder says, and what can end the server."""
    return {"tools": [tool("die"), *drifting(None)["tools"]]}


def hanging(_: str | None) -> Json:
    time.sleep(600)
    return {}


def senseless(_: str | None) -> Json:
    return {"tools": [{"title": "a tool without a name"}]}


def calling(_: str | None) -> Json:
    names = ("echo", "fail", "die", "hang", "big", "deny", "many", "secret")
    return {"tools": [tool(each, description=f"Do {each}") for each in names]}


def keeping(_: str | None) -> Json:
    return {"tools": [tool("keep", description="Note the key of a call, and leave a process")]}


def keep(arguments: Json, meta: Json) -> Json:
    note_call(f"keep {meta.get('stagec/idempotencyKey')}")
    subprocess.Popen(["sleep", "600"], start_new_session=True)
    time.sleep(0.02)
    return {"result": {"content": [{"type": "text", "text": json.dumps(arguments)}]}}


def call(name: str, arguments: Json, meta: Json) -> Json:
    """Do what a tool of the kinds `calling` and `keeping` does."""
    if name == "keep":
        return keep(arguments, meta)
    note_call(name)
    if name == "die":
        sys.exit(5)
    if name == "hang":
        time.sleep(600)
    if name == "deny":
        return {"error": {"code": -32000, "message": "not today"}}
    if name == "many":
        return {
            "result": {
                "content": [],
                "structuredContent": {"given": arguments, "key": meta.get("stagec/idempotencyKey")},
            }
        }
    if name == "secret":
        sys.stderr.write(f"{os.environ}\n")
        return {"result": {"content": [], "structuredContent": {"variables": dict(os.environ), "token": "opaque1"}}}
    size = {"big": 50_000_000}.get(name, 0)
    text = json.dumps(arguments) if size == 0 else "x" * size
    return {"result": {"content": [{"type": "text", "text": text}], "isError": name == "fail"}}


UNREADABLE = {
    "surrogate": r'{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "text": "\ud800"}]}}',
    "depth": '{"jsonrpc": "2.0", "id": %d, "result": {"content": ' + "[" * 100_000 + "]" * 100_000 + "}}",
    "id first": '{"id": %d, "jsonrpc": "2.0", "result": {"content": [}}',
    "no error": '{"jsonrpc": "2.0", "error": 5, "id": %d}',
}
"""Answers that cannot be read, by the name that a call gives."""


def note_call(name: str) -> None:
    with Path("calls").open("a", encoding="utf-8") as file:
        file.write(f"{name}\n")


LISTS: dict[str, Callable[[str | None], Json]] = {
    "polite": polite,
    "many": many,
    "hostile": hostile,
    "looping": looping,
    "doubled": doubled,
    "repeated": repeated,
    "drifting": drifting,
    "changing": changing,
    "hanging": hanging,
    "senseless": senseless,
    "calling": calling,
    "keeping": keeping,
}


def say(message: Json) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(kind: str, request: Json) -> Json:
    """Return the result or the error that answers a request."""
    method, params = request["method"], request.get("params") or {}
    if method == "initialize" and kind == "modern":
        data = {"supported": ["2026-07-28"], "requested": params["protocolVersion"]}
        return {"error": {"code": -32022, "message": "only 2026-07-28", "data": data}}
    if method == "initialize":
        capabilities: Json = {} if kind == "toolless" else {"tools": {}}
        about = {"name": kind, "version": "1"}
        return {
            "result": {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": about}
        }
    if method == "server/discover" and kind == "modern":
        return {"result": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **LATER}}
    if method == "tools/list":
        later = LATER if kind == "modern" else {}
        return {"result": {**LISTS.get(kind, polite)(params.get("cursor")), **later}}
    if method == "tools/call":
        return call(params["name"], params.get("arguments") or {}, params.get("_meta") or {})
    return {"error": {"code": -32601, "message": "Method not found"}}


LATER = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
"""What every result holds from the protocol of 2026 on."""


def note(pid: int) -> None:
    with Path("pids").open("a", encoding="utf-8") as file:
        file.write(f"{pid}\n")


def crash() -> None:
    sys.stderr.write("Traceback (most recent call last):\n\x1b[31mboom: no token\x1b[0m\n")
    sys.exit(3)


def be_silent() -> None:
    time.sleep(600)


def be_stubborn() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def make_noise() -> None:
    sys.stdout.write("Server is listening on stdio\n")


def babble() -> None:
    while True:
        sys.stdout.write("nothing but words\n")
        sys.stdout.flush()
        time.sleep(0.001)


def have_a_child() -> None:
    note(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid)


def reveal() -> None:
    Path("environment").write_text(json.dumps(dict(os.environ)), encoding="utf-8")


BEGINNINGS: dict[str, Callable[[], None]] = {
    "crashing": crash,
    "silent": be_silent,
    "stubborn": be_stubborn,
    "noisy": make_noise,
    "babbling": babble,
    "parent": have_a_child,
    "revealing": reveal,
}
"""What a server does before the first message."""


def serve(kind: str) -> None:
    note(os.getpid())
    BEGINNINGS.get(kind, lambda: None)()
    for line in sys.stdin:
        request = json.loads(line)
        arguments = request.get("params", {}).get("arguments") or {}
        if arguments.get("answer") in UNREADABLE:
            sys.stdout.write(UNREADABLE[arguments["answer"]] % request["id"] + "\n")
            sys.stdout.flush()
        elif "id" in request:
            say({"jsonrpc": "2.0", "id": request["id"], **answer(kind, request)})


if __name__ == "__main__":
    serve(sys.argv[1])
