"""Catalogues of tools, their servers and locks, and a user's own configuration, deep or long beyond measure."""

from __future__ import annotations

import json
import os
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from campaigns import sample

DEEP = 100_000
SHAPES = {
    "arrays": "[" * DEEP + "]" * DEEP,
    "objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "open arrays": "[" * DEEP,
    "open objects": '{"a":' * DEEP,
    "at the limit": "[" * 60 + "]" * 60,
    "members": "{" + ",".join(f'"{at}":0' for at in range(60_000)) + "}",
    "elements": "[" + "0," * 450_000 + "0]",
    "texts": "[" + '"a",' * 120_000 + '"a"]',
    "one number": "9" * 400_000,
    "one text": '"' + "x" * 900_000 + '"',
    "an odd text": '"\\u0000\\u001b[31m::error::x\\u2028"',
    "half a character": '"\\ud800"',
    "null": "null",
}
LOCK = {
    "lockVersion": 1,
    "servers": {"s": {"launch": "0" * 64, "tools": {"t": {"digest": "0" * 64, "schema": {"type": "object"}}}}},
}
STAGE = """---
id: a
name: A
allowedTools: [Read, mcp__s__t]
completionTool: done
completionSchema: {type: object}
retryPolicy: {maxAttempts: 1, backoff: none}
turnCap: 5
resolutionPolicy: fail
---

Do it, and call `done`.
"""
PLACES = {
    ".mcp.json": "{}",
    ".mcp.json servers": '{{"mcpServers":{}}}',
    ".mcp.json server": '{{"mcpServers":{{"s":{}}}}}',
    ".mcp.json args": '{{"mcpServers":{{"s":{{"command":"x","args":{}}}}}}}',
    ".mcp.json env": '{{"mcpServers":{{"s":{{"command":"x","env":{}}}}}}}',
    ".mcp.json command": '{{"mcpServers":{{"s":{{"command":{}}}}}}}',
    "tools.yaml": "{}",
    "tools.yaml bundled": "bundled: {}\n",
    "tools.yaml discovered": "bundled: [Read]\ndiscovered: [{{name: x, effects: read, schema: {}}}]\n",
    "tools.yaml schema": "bundled: [Read]\ndiscovered:\n  - {{name: x, effects: read, schema: {{default: {}}}}}\n",
    "tools.yaml servers": "bundled: [Read]\nmcp: {}\n",
    "tools.lock.json": "{}",
    "tools.lock.json servers": '{{"lockVersion":1,"servers":{}}}',
    "tools.lock.json tools": '{{"lockVersion":1,"servers":{{"s":{{"launch":"0","tools":{}}}}}}}',
    "tools.lock.json schema": json.dumps(LOCK).replace("{", "{{").replace("}", "}}").replace('"object"', "{}"),
}
"""A file, and where in it; the text with the place."""
COMMANDS = ["validate", "compile", "tools list", "graph"]


@pytest.mark.parametrize(("place", "shape", "command"), sample([*product(PLACES, SHAPES, COMMANDS)], 90, full=160))
def test_a_catalogue(write: Any, attack: Any, place: str, shape: str, command: str) -> None:
    write("pipeline.yaml", "id: p\nentry: a\nstages: [a.md]\ntools: tools.yaml\n")
    write("a.md", STAGE)
    write("tools.yaml", "bundled: [Read]\n")
    write(".mcp.json", {"mcpServers": {"s": {"command": "x"}}})
    write("tools.lock.json", LOCK)
    write(place.partition(" ")[0], PLACES[place].format(SHAPES[shape]))
    first, *rest = command.split()
    attack(*rest, command=first, seconds=3.0, megabytes=500.0)


@pytest.mark.parametrize("command", COMMANDS)
def test_more_elements_of_the_wrong_type_than_anybody_reads(write: Any, attack: Any, command: str) -> None:
    write("pipeline.yaml", "id: p\nentry: a\nstages: [a.md]\ntools: tools.yaml\n")
    write("a.md", STAGE)
    write("tools.yaml", "bundled: [Read]\n")
    write(".mcp.json", PLACES[".mcp.json args"].format(SHAPES["elements"]))
    first, *rest = command.split()
    attack(*rest, command=first, seconds=3.0, megabytes=300.0)


OWN = {
    **{f"budgets.depth = {name}": f"budgets.depth = {text}" for name, text in SHAPES.items()},
    **{f"budgets = {name}": f"budgets = {text}" for name, text in SHAPES.items()},
    **SHAPES,
    "dotted": "a." * DEEP + "b = 1",
    "headers": "[a" + ".a" * DEEP + "]",
    "deep tables": "a = " + "{a = " * DEEP,
    "50 MB": b" " * 50_000_000,
    "not UTF-8": b"\xff",
    "NUL": "\0",
    "budgets twice": "[budgets]\n" * 50_000,
    "infinite": "budgets.depth = inf",
    "a date": "budgets.depth = 2020-02-30",
    "an odd unit": 'budgets.file-size = "1e9 YB"',
    "many": "[budgets]\n" + "".join(f"k{at} = 1\n" for at in range(50_000)),
    "escape": '"\\u001b[2J\\n::error::x" = 1',
}


@pytest.mark.parametrize("name", OWN)
def test_a_user_s_own_configuration(project: Path, write: Any, attack: Any, registry: Any, name: str) -> None:
    write("steps_registry.json", registry({}))
    write("home/stagec/stagec.toml", OWN[name])
    assert attack(XDG_CONFIG_HOME=str(project / "home"), seconds=2.0).status == 2


@pytest.mark.parametrize("kind", ["pipe", "folder", "dangling", "loop", "device", "no text"])
def test_a_user_s_own_configuration_that_is_no_file(
    project: Path, write: Any, attack: Any, registry: Any, kind: str
) -> None:
    write("steps_registry.json", registry({}))
    path = write("home/stagec/beside", "x").with_name("stagec.toml")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"dangling": "nowhere", "loop": path.name, "device": "/dev/zero", "no text": "/dev/null"}[kind])
    attack(XDG_CONFIG_HOME=str(project / "home"), seconds=2.0)
