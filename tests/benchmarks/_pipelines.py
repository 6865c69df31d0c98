"""A large project: a pipeline of three hundred stage files, and a registry of a thousand steps beside it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from benchmarks._registries import enlarge

STAGES, STEPS = 300, 1_000

_STAGE = """---
id: {name}
name: Stage {number}
description: "Does part {number} of the work: no more, and no less."
allowedTools: [Read, Grep, Glob, Edit]
completionTool: submit_{number}
completionSchema:
  type: object
  required: [summary, steps, done]
  properties:
    summary: {{ type: string }}
    done: {{ type: boolean }}
    severity:
      enum: [none, low, high]
    steps:
      type: array
      items: {{ type: string, minLength: 1 }}
  additionalProperties: false
inputsSchema:
  type: object
  required: [verdict]
retryPolicy:
  maxAttempts: 2
  backoff: fixed:100
turnCap: {turns}
resolutionPolicy: retry-later
tags:
  - part-{number}
  - 'made for measuring'
---

You do part {number} of {{{{ctx.task}}}} in run {{{{ctx.workflowRunId}}}}.

{upstream}
When you are done, call `submit_{number}` with `summary`, `steps` and `done`.
"""
_UPSTREAM = "The part before says: {{ctx.upstream[0].parsed.summary}}, {{ctx.upstream[0].parsed.steps}}.\n"


def project(folder: Path) -> Path:
    """Write the project, without any finding, into a new folder and return it."""
    target = enlarge(folder, STEPS)
    write_stages(target / "pipeline", STAGES)
    return target


def write_stages(folder: Path, count: int) -> None:
    """Write a pipeline of so many stages, without any finding, into a new folder."""
    stages = folder / "stages"
    stages.mkdir(parents=True)
    names = [f"part-{number:03}" for number in range(count)]
    for number, name in enumerate(names):
        upstream = _UPSTREAM if number else ""
        text = _STAGE.format(name=name, number=number, turns=number % 30 + 1, upstream=upstream)
        (stages / f"{name}.md").write_text(text, encoding="utf-8")
    (folder / "pipeline.yaml").write_text(_pipeline(names), encoding="utf-8")
    (folder / "tools.yaml").write_text("bundled: [Read, Grep, Glob, Edit]\n", encoding="utf-8")


def _pipeline(names: list[str]) -> str:
    lines = [f"entry: {names[0]}", 'stages: ["stages/*.md"]', "context: {task: {type: string}}", "next:"]
    for name, following in pairwise(names):
        lines += [f"  {name}:", "    - {when: {parsed.done: true, parsed.severity: high}, stages: []}"]
        lines += [f"    - {{stages: [{following}]}}"]
    return "\n".join(lines) + "\n"
