"""Small orchestrators at random: agents with registries of their own, phases, verdicts, fallbacks and bounds."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from properties.small.project import SmallProject
from properties.small.registries import RegistryMaker

Json = Any
_AGENTS = ("writer", "judge")
_SETTINGS = ".agent/climpt/config/claude.settings.climpt.agents.json"


def make_orchestrator(chance: Random) -> SmallProject:
    """Return an orchestrator of two agents, whose steps have answers under `agent:step`."""
    files: dict[str, str] = {_SETTINGS: json.dumps({"permissions": {"allow": ["Read"], "defaultMode": "default"}})}
    answers: dict[str, list[Json]] = {}
    given: dict[str, list[Json]] = {}
    verdicts = {agent: chance.sample(("ok", "bad", "odd"), chance.randint(1, 3)) for agent in _AGENTS}
    for agent in _AGENTS:
        maker = RegistryMaker(chance, agent, f".agent/{agent}/", is_new=True)
        if chance.random() < 0.8:  # most agents are simple
            maker.names = ["initial.note", "closure.note"]
        made = maker.make(verdicts[agent])
        files |= made.files
        answers |= {f"{agent}:{step}": each for step, each in made.answers.items()}
        given |= made.given
    files[".agent/workflow.json"] = json.dumps(_make_workflow(chance, verdicts))
    return SmallProject(files, answers, given)


def _make_workflow(chance: Random, verdicts: dict[str, list[str]]) -> dict[str, Json]:
    working = {f"p{at}": agent for at, agent in enumerate(chance.choices(_AGENTS, k=chance.randint(1, 3)))}
    ends = {"done": "terminal", "stuck": "blocking"}
    phases: dict[str, Json] = {
        name: {"type": "actionable", "priority": at, "agent": agent} for at, (name, agent) in enumerate(working.items())
    }
    names = [*working, *ends]
    labels = {f"label {name}": name for name in names if name in ends or chance.random() < 0.9}
    return {
        "version": "1.0.0",
        "issueSource": {"kind": "ghRepoIssues", "projectMembership": "unbound"},
        "phases": {**phases, **{name: {"type": kind} for name, kind in ends.items()}},
        "labelMapping": labels or {"label done": "done"},
        "agents": {agent: _make_performer(chance, verdicts[agent], names) for agent in _AGENTS},
        "rules": {"maxCycles": chance.choice((1, 2, 5)), "maxConsecutivePhases": chance.choice((0, 0, 1, 2))},
    }


def _make_performer(chance: Random, verdicts: list[str], names: list[str]) -> dict[str, Json]:
    fallback = {"fallbackPhase": chance.choice(("stuck", *names))} if chance.random() < 0.85 else {}
    if chance.random() < 0.5:
        named = [each for each in verdicts if chance.random() < 0.9] or verdicts
        return {"role": "validator", "outputPhases": {each: chance.choice(names) for each in named}, **fallback}
    return {"role": "transformer", "outputPhase": chance.choice(names), **fallback}
