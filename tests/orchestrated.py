"""Projects with an orchestrator file and its agents, which are those of an example with verdicts of their own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_EXAMPLE = Path(__file__).parents[1] / "registries" / "issue-flow" / ".agent"
_AGENT = "issue-solver"

WORKFLOW: Mapping[str, Any] = {
    "version": "1.0.0",
    "issueSource": {"kind": "ghRepoIssues"},
    "phases": {
        "build": {"type": "actionable", "priority": 1, "agent": "builder"},
        "review": {"type": "actionable", "priority": 2, "agent": "reviewer"},
        "done": {"type": "terminal"},
        "stuck": {"type": "blocking"},
    },
    "labelMapping": {"kind:build": "build", "kind:code": "build", "review": "review", "done": "done", "help": "stuck"},
    "agents": {
        "builder": {"role": "transformer", "outputPhase": "review", "fallbackPhase": "stuck"},
        "reviewer": {
            "role": "validator",
            "outputPhases": {"approved": "done", "rejected": "build"},
            "fallbackPhase": "stuck",
            "closeBinding": {"primary": {"kind": "direct"}, "condition": "approved"},
        },
    },
    "handoff": {"commentTemplates": {"reviewerRejected": "## Rejected\n\n{summary} ({nothing})"}},
    "rules": {"maxCycles": 6, "cycleDelayMs": 1, "maxConsecutivePhases": 3},
}
"""An orchestrator of two agents that nothing is wrong with."""


def write_orchestrator(
    folder: Path, workflow: Mapping[str, Any] = WORKFLOW, agents: Sequence[str] = ("builder", "reviewer")
) -> Path:
    """Write a project, and return the folder of its agents."""
    home = folder / ".agent"
    home.mkdir(parents=True, exist_ok=True)
    (home / "workflow.json").write_text(json.dumps(workflow), encoding="utf-8")
    for agent in agents:
        _write_agent(home, agent)
    return home


def _write_agent(home: Path, agent: str) -> None:
    """Write an agent whose closing answers have a verdict, and no validators."""
    own = home / agent
    shutil.copytree(_EXAMPLE / _AGENT, own)
    shutil.rmtree(own / "prompts" / "steps" / "retry")
    for name in ("agent.json", "steps_registry.json"):
        text = (own / name).read_text(encoding="utf-8").replace(f'"{_AGENT}"', f'"{agent}"')
        (own / name).write_text(text, encoding="utf-8")
    registry = json.loads((own / "steps_registry.json").read_text(encoding="utf-8"))
    for member in ("validationSteps", "validators", "failurePatterns"):
        del registry[member]
    registry["steps"]["closure.issue"]["structuredGate"]["handoffFields"] = ["result.summary"]
    (own / "steps_registry.json").write_text(json.dumps(registry), encoding="utf-8")
    path = own / "schemas" / "issue.schema.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    schema["$defs"]["closure.issue"]["properties"]["verdict"] = {"type": "string"}
    path.write_text(json.dumps(schema), encoding="utf-8")
    config = home / "climpt" / "config"
    config.mkdir(parents=True, exist_ok=True)
    for kind in ("app", "user"):
        text = (_EXAMPLE / "climpt" / "config" / f"{_AGENT}-steps-{kind}.yml").read_text(encoding="utf-8")
        (config / f"{agent}-steps-{kind}.yml").write_text(text, encoding="utf-8")


def answer_steps(verdict: str | None = None) -> dict[str, Any]:
    """Return the answers by which an agent comes to its end, with a verdict if one is named."""

    def step(name: str, action: str, **more: Any) -> dict[str, Any]:
        return {"stepId": f"{name}.issue", **more, "next_action": {"action": action, "reason": "It is time"}}

    said = {} if verdict is None else {"verdict": verdict}
    return {
        "initial.issue": step("initial", "next", analysis={"understanding": "A bug", "approach": "Mend it"}),
        "continuation.issue": step("continuation", "handoff", progress={"changes": "Mended", "remaining": []}),
        "closure.issue": step("closure", "closing", result={"summary": "It works", "checks": []}, **said),
    }
