"""The examples of the page about runs in a program do what the page says."""

from __future__ import annotations

import ast
import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playable import asking, steps

from stagec.ir.plan import dump
from stagec.runs import Questioned

PAGE = Path(__file__).parents[2] / "docs" / "user-guide" / "runs-in-a-program.md"
SERVICE_LINES, NOTEBOOK_LINES = 40, 10


def example(name: str) -> str:
    found = re.search(rf"<!-- example: {name} -->\n```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def count_lines(name: str) -> int:
    return sum(bool(line) for line in example(name).splitlines())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("writer.plan.json").write_bytes(dump(steps()))


def execute(name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    exec(compile(example(name), name, "exec"), found)
    return found


def test_the_script_runs(capsys: pytest.CaptureFixture[str]) -> None:
    execute("script")
    assert capsys.readouterr().out == "done completed\n"


def test_the_machine_alone_runs(capsys: pytest.CaptureFixture[str]) -> None:
    execute("machine")
    assert capsys.readouterr().out == "would run exit 0\ndone completed\n"


def test_the_notebook_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code = compile(example("notebook"), "notebook", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    asyncio.run(eval(code, {}))
    lines = capsys.readouterr().out.splitlines()
    assert ast.literal_eval(lines[-1]) == {"is": "end", "outcome": "done", "reason": "completed", "failure": None}
    assert count_lines("notebook") <= NOTEBOOK_LINES


def test_the_service_starts_runs_and_streams_their_events() -> None:
    app = execute("service")["app"]
    assert count_lines("service") <= SERVICE_LINES

    async def play() -> list[Any]:
        status, told = await ask(app, "POST", "/runs", {"topic": "owls"})
        assert (status, json.loads(told)) == (201, {"run": "r1"})
        refused, why = await ask(app, "POST", "/runs", {"more": 1})
        assert (refused, json.loads(why)["error"]) == (400, "'writer' cannot be run: there is no input 'more'")
        status, told = await ask(app, "GET", "/runs/r1")
        return [json.loads(each.removeprefix(b"data: ")) for each in told.split(b"\n\n") if each]

    events = asyncio.run(play())
    assert [each["is"] for each in events] == [*["step"] * (len(events) - 1), "end"]
    assert events[-1]["outcome"] == "done"


def test_people_answer_the_service() -> None:
    Path("writer.plan.json").write_bytes(dump(asking()))
    service = execute("service")

    async def answer() -> list[Any]:
        await ask(service["app"], "POST", "/runs", {"busy": True})
        key = ""
        async for event in service["RUNS"]["r1"].follow():
            if isinstance(event, Questioned):
                key = event.question.key
                break
        status, _ = await ask(service["app"], "POST", "/runs/r1/answers", {"key": key, "yes": False})
        assert status == 200
        return (await ask(service["app"], "GET", "/runs/r1"))[1].split(b"\n\n")

    told = asyncio.run(answer())
    assert json.loads(told[-2].removeprefix(b"data: "))["failure"]["kind"] == "gate-unresolved"


async def ask(app: Any, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
    """Return the status and the body of a response, without a server."""
    status, told = [], bytearray()
    waits = asyncio.Event()
    sent = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

    async def receive() -> Any:
        return sent.pop() if sent else await waits.wait()

    async def send(message: Any) -> None:
        status.extend([message["status"]] if "status" in message else [])
        told.extend(message.get("body", b""))

    scope = {"type": "http", "method": method, "path": path, "headers": [], "query_string": b"", "root_path": ""}
    await app({**scope, "asgi": {"version": "3.0", "spec_version": "2.4"}, "http_version": "1.1"}, receive, send)
    return status[0], bytes(told)
