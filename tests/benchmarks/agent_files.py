"""Agent files: two thousand agents, against a checker of JSON Schema over as many JSON files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from stagec_dev.cost import Benchmark, MeasuredProgram, validate

_FILES = 2_000
_AGENT = """---
name: agent-{number}
description: Reviews the changes of part {number}. Use it when a change of that part is ready.
tools: Read, Grep, Glob, Bash
model: sonnet
---
You review changes.

## What to look at

{text}
"""
_SCHEMA = {
    "type": "object",
    "required": ["name", "description"],
    "properties": {"name": {"type": "string"}, "tools": {"type": "string"}},
}


def _measure(folder: Path) -> tuple[float, float]:
    project, others = folder / "project", folder / "json"
    agents = project / ".claude" / "agents"
    agents.mkdir(parents=True)
    others.mkdir()
    for number in range(_FILES):
        (agents / f"agent-{number}.md").write_text(_AGENT.format(number=number, text="Look at the names.\n" * 40))
        given = {"name": f"agent-{number}", "description": "Reviews changes", "tools": "Read, Grep"}
        (others / f"{number}.json").write_text(json.dumps(given))
    schema = folder / "schema.json"
    schema.write_text(json.dumps(_SCHEMA))
    checker = str(Path(sys.executable).with_name("check-jsonschema"))
    files = [str(each) for each in sorted(others.iterdir())]
    other = MeasuredProgram((checker, "--schemafile", str(schema), *files), folder, runs=3)
    return validate(project, runs=3).seconds(), other.seconds()


AGENT_FILES = Benchmark(
    "validate 2,000 agent files",
    "check-jsonschema on 2,000 JSON files",
    _measure,
    wish=2.0,
    project=lambda folder: folder / "project",
)
