"""The answers of a scenario for orchestrators: how agents end, and which changes to the issue fail."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json, object_of
from stagec.runtime.exchange import read_key
from stagec.runtime.orchestrator_requests import Dispatch, OrchestratorRequest
from stagec.world.scenario import Scenario, find_told


def has_agent_answer(scenario: Scenario, effect: OrchestratorRequest) -> bool:
    """Tell whether a scenario says something about a request."""
    if isinstance(effect, Dispatch):
        return isinstance(scenario.agents.get(effect.agent), list)
    return _name(effect) in scenario.issue


def answer_for_agent(scenario: Scenario, effect: OrchestratorRequest) -> Json:
    """Return how a scenario says that an agent ends, or that something cannot be written down; else nothing."""
    if isinstance(effect, Dispatch):
        return _end_agent(object_of(find_told(scenario, effect.agent, effect.run)))
    told = scenario.issue.get(_name(effect))
    if isinstance(told, dict):
        told = object_of(told.get("at")).get(read_key(effect.key).node)
    if isinstance(told, list):
        told = told[min(read_key(effect.key).visit, len(told)) - 1] if told else None
    return {"error": told} if isinstance(told, str) else {}


def _name(effect: OrchestratorRequest) -> str:
    return type(effect).__name__.lower()


def _end_agent(told: Mapping[str, Json]) -> Json:
    """Return how a scenario says that an agent ends; nothing where its plan is run."""
    answer = dict(object_of(told.get("answer")))
    if "verdict" in told:
        answer["verdict"] = told["verdict"]
    failed = {"failed": told["failed"]} if "failed" in told else {}
    return {"answer": answer, **failed} if answer or "answer" in told or "failed" in told else {}
