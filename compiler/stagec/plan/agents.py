"""Runs of phases: what a plan promises whose nodes run agents, and the plans of these inside it."""

from __future__ import annotations

import json
from collections.abc import Iterator

from stagec.core.json import object_of
from stagec.core.words import listing
from stagec.plan.act import Delegate, Process, Rest
from stagec.plan.document import Plan
from stagec.plan.gate import AgentGate, RestGate
from stagec.plan.node import Go, Node, Outcome, Stop
from stagec.plan.schedules import Flaw

SUCCESS, TRANSFORMER = "success", "transformer"
_ENDS = (Outcome.DONE, Outcome.BLOCKED)


def read_turns(payload: str) -> int:
    """Return how many turns of models the facts in a payload name; 0 where they name none."""
    try:
        told = object_of(object_of(json.loads(payload)).get("facts")).get("turns")
    except (ValueError, RecursionError):
        return 0
    return told if isinstance(told, int) and not isinstance(told, bool) and told > 0 else 0


def list_phase_outcomes(gate: AgentGate | RestGate) -> tuple[str, ...]:
    """Return the outcomes of a phase."""
    return (*gate.outcomes, gate.otherwise) if isinstance(gate, AgentGate) else (gate.outcome,)


def find_unfit_agent(plan: Plan) -> Iterator[str]:
    """Yield why a plan cannot be that of an agent."""
    if plan.phases is not None or plan.plans:
        yield "has agents itself"
    if any(isinstance(node.act, Process) for node in plan.nodes.values()):
        yield "has stages that are processes"
    if plan.entry is None:
        yield "has no 'entry'"


def find_phase_flaws(plan: Plan) -> Iterator[Flaw]:
    """Yield every promise about agents and phases that a plan breaks."""
    phased = [name for name, node in plan.nodes.items() if isinstance(node.act, Delegate | Rest)]
    if plan.phases is None:
        if phased or plan.plans:
            yield (), "lacks 'phases', but has agents or phases"
        return
    others = [name for name in plan.nodes if name not in frozenset(phased)]
    if others:
        yield ("phases",), f"cannot hold of {listing(others)}, which are not phases"
    for name, begun in plan.entries.items():
        if not isinstance(begun, str):
            yield ("entries", name), "is a schedule, and phases follow one another"
    for name in phased:
        yield from _look_at_phase(plan.nodes[name], name)


def _look_at_phase(node: Node, name: str) -> Iterator[Flaw]:
    """Look whether each edge of a phase is one that runs of phases have, and that nothing stands around its act."""
    at, is_agent = ("nodes", name), isinstance(node.act, Delegate)
    if type(node.gate) is AgentGate:
        if node.gate.otherwise in node.gate.outcomes:
            yield (*at, "gate"), "has 'otherwise' among its 'outcomes'"
        if node.gate.role == TRANSFORMER and SUCCESS not in node.gate.outcomes:
            yield (*at, "gate"), f"lacks {SUCCESS!r} among its 'outcomes'"
    if any((node.admission, node.retry, node.validation, node.hooks)):
        yield at, "has an admission, a retry, a validation or hooks, and is a phase"
    for index, edge in enumerate(node.edges):
        target = edge.target
        leads_on = type(target) is Go and target.otherwise is None
        ends = type(target) is Stop and target.outcome in ((Outcome.FAILED,) if is_agent else _ENDS)
        if edge.when or not (ends or (is_agent and leads_on)):
            yield (*at, "edges", index), "is none that a phase can have"
