"""Nodes that ask a model for one structured answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from plan_vectors.execution import Execution
from plan_vectors.gates import readings
from plan_vectors.knowledge import Knowledge
from plan_vectors.schemas import satisfies
from plan_vectors.tasks import Steps
from plan_vectors.texts import SYSTEM, HoleError, render

_ASKED = 2
"""So often the model is asked in one execution."""


def prompts(knows: Knowledge, node: Mapping[str, Any], instead: str | None, repeats: int) -> dict[str, str] | None:
    """Return the prompts of an execution that is about to begin, or nothing when it cannot start."""
    try:
        own = instead if instead is not None else _prompt(knows, node["act"], repeats)
    except HoleError:
        return None
    return None if own is None else {"prompt": own, **_system(knows, knows.plan.get("system"))}


def _prompt(knows: Knowledge, act: Mapping[str, Any], repeats: int) -> str | None:
    asked = act["repeats"][repeats - 1] if repeats else act
    variables = knows.supplied(asked)
    lacking = set(asked.get("variables", ())) - set(variables)
    if "prompt" not in asked or lacking or not all(variables.get(name) for name in act.get("needed", ())):
        return None
    scope = {"variable": variables, "stdin": knows.inputs.get("stdin", "")}
    return render(asked["prompt"], scope, knows.contents)


def _system(knows: Knowledge, system: Mapping[str, Any] | None) -> dict[str, str]:
    if system is None:
        return {}
    variables = {**dict.fromkeys(system.get("variables", ()), ""), **knows.supplied(system)}
    scope = {"variable": variables, "stdin": knows.inputs.get("stdin", "")}
    return {"system": render(system["prompt"], scope, knows.contents, SYSTEM)}


def prompt(knows: Knowledge, execution: Execution, prompts: Mapping[str, str]) -> Steps:
    """Ask for an answer, and return it; nothing when there is none."""
    act = execution.node["act"]
    request = {**prompts, **{name: act.get(name) for name in ("schema", "tools", "model", "permission")}}
    for number in range(_ASKED):
        if number:
            execution.again()
        answer = yield execution.ask("ask", **request)
        value = answer["answer"]
        for read in readings(execution.node["gate"], value) if isinstance(value, dict) else ():
            if "schema" not in act or satisfies(read, knows.contents[act["schema"]]):
                knows.summary = answer["text"]
                return read
    return None
