"""Orchestrators at random whose agents hand values over inside, and share the inputs of the run."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from properties.small.handing_registries import HandingMaker
from properties.small.project import SmallProject

Json = Any
_AGENTS = ("writer", "judge")
_VERDICTS = ("good", "bad")


def make_handing_orchestrator(chance: Random) -> SmallProject:
    """Return an orchestrator of two agents, whose steps have answers under `agent:step`."""
    files: dict[str, str] = {}
    answers: dict[str, list[Json]] = {}
    given: dict[str, list[Json]] = {}
    for agent in _AGENTS:
        verdicts = [*_VERDICTS] if agent == "judge" else None
        made = HandingMaker(chance, agent, f".agent/{agent}/", verdicts, new=True).make()
        files |= made.files
        answers |= {f"{agent}:{step}": each for step, each in made.answers.items()}
        given |= made.given
    files[".agent/workflow.json"] = json.dumps(_make_workflow(chance))
    return SmallProject(files, answers, given)


def _make_workflow(chance: Random) -> dict[str, Json]:
    phases: dict[str, Json] = {
        "draft": {"type": "actionable", "priority": 1, "agent": "writer"},
        "review": {"type": "actionable", "priority": 2, "agent": "judge"},
        "done": {"type": "terminal"},
        "stuck": {"type": "blocking"},
    }
    back = chance.choice(("draft", "stuck", "review"))
    judge = {"role": "validator", "outputPhases": {"good": "done", "bad": back}, "fallbackPhase": "stuck"}
    comments = {"writerSuccess": "From {plan} by {text}", "judgeGood": "{why}"}
    return {
        "version": "1.0.0",
        "issueSource": {"kind": "ghRepoIssues", "projectMembership": "unbound"},
        "phases": phases,
        "labelMapping": {
            f"is {name}": name for name, each in phases.items() if "agent" in each or chance.random() < 0.7
        },
        "agents": {
            "writer": {"role": "transformer", "outputPhase": "review", "fallbackPhase": "stuck"},
            "judge": judge,
        },
        "rules": {"maxCycles": chance.choice((2, 4, 7)), "maxConsecutivePhases": chance.choice((0, 2))},
        **({"handoff": {"commentTemplates": comments}} if chance.random() < 0.5 else {}),
    }
