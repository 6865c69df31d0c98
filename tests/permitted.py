"""Small projects of every system whose nodes may do this and that, for what is said about rights."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orchestrated
import yaml

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.sources.project.settings import Settings

_EXAMPLE = Path(__file__).parents[1] / "registries" / "issue-flow"
Make = Callable[[Path], None]
_TOOLS = """
discovered:
  - {name: look_private, reads: private, effects: []}
  - {name: look_untrusted, reads: untrusted, effects: []}
  - {name: do_send, reads: [], effects: send}
  - {name: do_write, reads: [], effects: [write]}
  - {name: harmless, reads: [], effects: []}
"""
_LETTERS = {"p": "look_private", "u": "look_untrusted", "s": "do_send", "w": "do_write", "n": "harmless"}
_CHECKS = "{when: {capHit: true}, verdict: fail, reason: the turns are used up}"


def pipeline(stages: Mapping[str, str], ways: str, *, tools: str = _TOOLS, text: str = "", entry: str = "") -> Make:
    """Return a maker of a pipeline: its stages with their tools, and what comes after each, as YAML.

    Tools are letters (`p` reads private data, `u` untrusted text, `s` sends, `w` writes) or names with commas.
    """

    def make(root: Path) -> None:
        (root / "tools.yaml").write_text(tools, encoding="utf-8")
        head = f"entry: {entry or next(iter(stages))}\nmaxStageExecutions: 20\nstages: [stages/*.md]\n"
        (root / "pipeline.yaml").write_text(f"{head}next: {ways}\n", encoding="utf-8")
        (root / "stages").mkdir()
        for name, allowed in stages.items():
            known = all(each in _LETTERS for each in allowed)
            names = [_LETTERS[each] for each in allowed] if known else allowed.split(",")
            (root / "stages" / f"{name}.md").write_text(_stage(name, names, text), encoding="utf-8")

    return make


def _stage(name: str, tools: list[str], text: str) -> str:
    said = text or f"Do it with {', '.join(tools)}."
    return f"""---
id: {name}
name: Stage {name}
allowedTools: {json.dumps(tools)}
completionTool: submit_{name}
completionSchema: {{type: object, required: [ok], properties: {{ok: {{type: boolean}}}}}}
retryPolicy: {{maxAttempts: 2, backoff: none}}
turnCap: 5
resolutionPolicy: fail
---
{said} Then call `submit_{name}`.
"""


def registry(
    tools: list[str], *, modes: Mapping[str, str] = {}, agent: str = "acceptEdits", prompt: str = "", **more: Any
) -> Make:
    """Return a maker of the agent of an example, with other tools, modes, prompts and members of its closing step."""

    def make(root: Path) -> None:
        shutil.copytree(_EXAMPLE / ".agent", root / ".agent")
        _change_agent(root / ".agent" / "issue-solver", tools, agent)
        file = root / ".agent" / "issue-solver" / "steps_registry.json"
        body = json.loads(file.read_text(encoding="utf-8"))
        for step, mode in modes.items():
            body["steps"][step]["permissionMode"] = mode
        body["steps"]["closure.issue"].update(more)
        file.write_text(json.dumps(body), encoding="utf-8")
        for each in (root / ".agent" / "issue-solver" / "prompts").rglob("*.md") if prompt else ():
            each.write_text(prompt, encoding="utf-8")

    return make


def _change_agent(folder: Path, tools: list[str], mode: str) -> None:
    file = folder / "agent.json"
    body = json.loads(file.read_text(encoding="utf-8"))
    body["runner"]["boundaries"] = {"allowedTools": tools, "permissionMode": mode}
    body["parameters"]["title"] = {"type": "string", "description": "The title of the issue", "cli": "--title"}
    file.write_text(json.dumps(body), encoding="utf-8")


def orchestrator(builder: list[str], reviewer: list[str]) -> Make:
    """Return a maker of an orchestrator of two agents: the builder comes first, and again when it is rejected."""

    def make(root: Path) -> None:
        home = orchestrated.write_orchestrator(root)
        _change_agent(home / "builder", builder, "default")
        _change_agent(home / "reviewer", reviewer, "default")

    return make


def stage_plan(**stages: tuple[str, str]) -> Make:
    """Return a maker of a stage plan: for each stage its command, and the names of those that it needs."""

    def make(root: Path) -> None:
        ids = {name: f"S{at:02}_load_{name}" for at, name in enumerate(stages, 1)}
        body = [
            {
                "stageId": ids[name],
                "goal": f"Load the part that is called {name}",
                "inputs": {},
                "outputs": {"out": f"{name}.json"},
                "maxDurationSec": 60,
                "dependencies": [ids[each] for each in needs.split()],
                "run": command if isinstance(command, list) else command.split(),
            }
            for name, (command, needs) in stages.items()
        ]
        (root / "plan.yaml").write_text(yaml.safe_dump({"reportTitle": "plan", "stages": body}), encoding="utf-8")

    return make


def agent_file(path: str, head: str, text: str = "Do it.") -> Make:
    """Return a maker of an agent file of another tool."""

    def make(root: Path) -> None:
        file = root / path
        file.parent.mkdir(parents=True)
        file.write_text(f"---\n{head}\n---\n{text}\n", encoding="utf-8")

    return make


def compile_with_rights(root: Path) -> Compilation:
    """Return what comes of a project with the rules about rights selected, and all others."""
    return compile_project(Project(root.resolve(), (), Settings(extend_select=("rights",))))
