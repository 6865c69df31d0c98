"""No schema makes stagec open a connection, or a file outside the project."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
OPENED = re.compile(r'^(?:\d+ +)?(?:openat|open)\([^"]*"(?P<path>(?:[^"\\]|\\.)*)"', re.MULTILINE)
SOCKETS = re.compile(r"^(?:\d+ +)?(?:socket|connect|bind|sendto)\((?!.*AF_UNIX).*", re.MULTILINE)
LIBRARY = re.compile(r"/ld\.so\.cache$|\.so(\.\d+)*$")
MARK = "/stagec-begins-here"
PROGRAM = f"""
import os, sys
from pathlib import Path
from stagec.check.pipeline import Project, compile_project
from stagec.sources.project.settings import Settings
root = Path(sys.argv[1])
os.path.exists({MARK!r})
for each in compile_project(Project(root, (), Settings())).diagnostics:
    print(each.code, each.at.file)
"""
KEYWORDS = ("$ref", "$schema", "$id", "$dynamicRef", "$recursiveRef", "$dynamicAnchor", "$vocabulary", "id")


class Listener:
    """A server on the loopback that counts who calls."""

    def __init__(self) -> None:
        self.calls = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._socket.settimeout(0.05)
        self.port = self._socket.getsockname()[1]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._socket.accept()
            except TimeoutError:
                continue
            self.calls += 1
            connection.close()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        self._socket.close()


@pytest.fixture
def listener() -> Iterator[Listener]:
    listening = Listener()
    yield listening
    listening.close()


def project(folder: Path, port: int) -> Path:
    """Write a project whose files name the loopback, a file of the system and a file above the root everywhere."""
    root = folder / "project"
    (root / "schemas").mkdir(parents=True)
    (folder / "outside.json").write_text('{"type": "object"}', encoding="utf-8")
    targets = (f"http://127.0.0.1:{port}/x.json", "file:///etc/passwd", "../../outside.json", "/etc/passwd")
    for number, (keyword, target) in enumerate((keyword, target) for keyword in KEYWORDS for target in targets):
        inside = {"type": "object", keyword: target, "properties": {"x": {keyword: target, "$ref": "y.json"}}}
        for name, schema in ((f"top{number}", {keyword: target, "a": inside}), (f"in{number}", {"a": inside})):
            (root / "schemas" / f"{name}.schema.json").write_text(json.dumps(schema), encoding="utf-8")
    steps = {
        f"s{number}": {
            "stepId": f"s{number}", "name": "S", "c2": "initial", "c3": "a",
            "outputSchemaRef": {"file": target, "schema": "a"},
            "structuredGate": {"allowedIntents": ["next"], "intentSchemaRef": target, "intentField": "x"},
        }
        for number, target in enumerate((*targets, "top0.schema.json", "in0.schema.json"))
    }  # fmt: skip
    registry = {
        "$schema": targets[0],
        "$id": targets[0],
        "agentId": "demo",
        "version": 1,
        "c1": "steps",
        "steps": steps,
    }
    (root / "steps_registry.json").write_text(json.dumps(registry), encoding="utf-8")
    agent = {
        "$schema": targets[0],
        "$ref": targets[1],
        "runner": {"flow": {"prompts": {"registry": "steps_registry.json"}}},
    }
    (root / "agent.json").write_text(json.dumps(agent), encoding="utf-8")
    return root


def command(root: Path) -> list[str]:
    return [sys.executable, "-c", PROGRAM, str(root)]


def test_nobody_calls_the_listener(tmp_path: Path, listener: Listener) -> None:
    root = project(tmp_path, listener.port)
    ended = subprocess.run(
        command(root), capture_output=True, text=True, check=True, env={"PYTHONPATH": str(TOP / "compiler")}
    )
    assert {"STG160", "STG162"} <= {line.split()[0] for line in ended.stdout.splitlines()}
    assert listener.calls == 0


def test_the_listener_would_have_noticed(listener: Listener) -> None:
    socket.create_connection(("127.0.0.1", listener.port)).close()
    for _ in range(100):
        if listener.calls:
            break
        threading.Event().wait(0.02)
    assert listener.calls == 1


@pytest.mark.needs("strace")
def test_no_socket_and_no_file_outside_is_opened(tmp_path: Path, listener: Listener) -> None:
    root, log = project(tmp_path, listener.port), tmp_path / "log"
    calls = "trace=network,open,openat,stat,access,faccessat,newfstatat"
    subprocess.run(
        ["strace", "-f", "-qq", "-s", "400", "-e", calls, "-o", str(log), *command(root)],
        capture_output=True,
        check=True,
        env={"PYTHONPATH": str(TOP / "compiler"), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    before, mark, after = log.read_text(encoding="utf-8").partition(MARK)
    assert mark
    assert SOCKETS.findall(before + after) == []
    opened = {match["path"] for match in OPENED.finditer(after)}
    assert any(path.endswith("in0.schema.json") for path in opened)
    allowed = (str(root), str(TOP), sys.prefix, sys.base_prefix, "/proc/", "/sys/")
    foreign = {path for path in opened if path.startswith("/") and not path.startswith(allowed)}
    assert {path for path in foreign if not LIBRARY.search(path)} == set()
    assert {path for path in opened if "outside.json" in path or "passwd" in path} == set()
