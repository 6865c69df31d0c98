"""An MCP server that keeps to no rule; its first argument says which it breaks."""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

Json = dict[str, Any]


def write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def say(message: object) -> None:
    write(json.dumps(message).encode() + b"\n")


def result(request: Json, given: Json) -> Json:
    return {"jsonrpc": "2.0", "id": request["id"], "result": given}


def listed(request: Json, *tools: Json, **more: Any) -> Json:
    return result(request, {"tools": list(tools), **more})


def tool(name: str = "a", schema: object = None, **more: Any) -> Json:
    return {"name": name, "inputSchema": {"type": "object"} if schema is None else schema, **more}


def giant_schema(request: Json) -> None:
    say(listed(request, tool(schema={"type": "object", "enum": [f"value {at}" for at in range(500_000)]})))


def deep_schema(request: Json) -> None:
    deep = b'{"type":"object","not":' * 100_000 + b"{}" + b"}" * 100_000
    head = json.dumps(listed(request, tool("a"))).encode()
    write(head.replace(b'{"type": "object"}', deep) + b"\n")


def drip(request: Json) -> None:
    for each in json.dumps(listed(request, tool())).encode() * 100:
        write(bytes((each,)))
        time.sleep(0.05)


def half(request: Json) -> None:
    write(json.dumps(listed(request, tool())).encode()[:40])
    os._exit(0)


def half_and_stay(request: Json) -> None:
    write(json.dumps(listed(request, tool())).encode()[:40])
    os.close(1)
    time.sleep(600)


def wrong_id(request: Json) -> None:
    for other in (request["id"] + 1, 10**30, -1, 1.5, None, True, [], {}, ""):
        say({**listed(request, tool("stray")), "id": other})


def right_after_wrong(request: Json) -> None:
    wrong_id(request)
    say(listed(request, tool()))
    say(listed(request, tool("again")))


def text_id(request: Json) -> None:
    say({**listed(request, tool()), "id": str(request["id"])})


def batch(request: Json) -> None:
    say([listed(request, tool())])


def both(request: Json) -> None:
    say({**listed(request, tool()), "error": {"code": 1, "message": "no"}})


def no_text(request: Json) -> None:
    for each in (b"\xff\xfe", b"\x00", b'{"jsonrpc": "2.0", "method": "\xff"}', "{}".encode("utf-16")):
        write(each + b"\n")
    write(json.dumps(listed(request, tool())).encode() + b"\r\n")


def halves(request: Json) -> None:
    write(json.dumps(listed(request, tool("X"))).encode().replace(b'"X"', b'"\\ud800"') + b"\n")


def flood(request: Json) -> None:
    told = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 1_000}}
    data = (json.dumps(told) + "\n").encode() * 100
    while True:
        write(data)


def changes(request: Json) -> None:
    data = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n' * 1_000
    while True:
        write(data)


def progress(request: Json) -> None:
    for at in itertools.count():
        told = {"progressToken": request["id"], "progress": at}
        say({"jsonrpc": "2.0", "method": "notifications/progress", "params": told})


def questions(request: Json) -> None:
    """Ask for ever, and never read what is answered."""
    for at in itertools.count():
        message = {"role": "user", "content": {"type": "text", "text": "x" * 1_000}}
        given = {"messages": [message], "maxTokens": 1}
        say({"jsonrpc": "2.0", "id": at, "method": "sampling/createMessage", "params": given})


def few_questions(request: Json) -> None:
    for at, method in enumerate(("ping", "roots/list", "sampling/createMessage", "elicitation/create", "no/such")):
        say({"jsonrpc": "2.0", "id": at, "method": method, "params": {}})
    answers = [json.loads(sys.stdin.buffer.readline()) for _ in range(5)]
    say(listed(request, tool(" ".join(sorted("error" if "error" in each else "result" for each in answers)))))


def complaints(request: Json) -> None:
    data = b"x" * 65_536 + b"\n"
    for _ in range(2_000):
        os.write(2, data)
    say(listed(request, tool()))


def long_cursors(request: Json) -> None:
    at = int((request.get("params") or {}).get("cursor", "0").lstrip("x") or 0)
    say(listed(request, tool(f"t{at}"), nextCursor="x" * 4_000_000 + str(at + 1)))


def long_names(request: Json) -> None:
    at = int((request.get("params") or {}).get("cursor", "0"))
    say(listed(request, tool(f"t{at}" + "x" * 4_000_000), nextCursor=str(at + 1)))


def long_error(request: Json) -> None:
    say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": 10**12, "message": "x" * 10_000_000}})


def odd_error(request: Json) -> None:
    say({"jsonrpc": "2.0", "id": request["id"], "error": "no"})


def noise_at_the_end(request: Json) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say(listed(request, tool()))
    while True:
        os.write(2, b"x" * 65_536)


def serve(kind: str) -> None:
    misbehave: Callable[[Json], None] = globals()[kind]
    with open("pids", "a", encoding="utf-8") as file:
        file.write(f"{os.getpid()}\n")
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        if request.get("method") == "initialize":
            version = request["params"]["protocolVersion"]
            about = {"name": kind, "version": "1"}
            given = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
            say(result(request, given))
        elif request.get("method") == "tools/list":
            misbehave(request)


if __name__ == "__main__":
    serve(sys.argv[1])
