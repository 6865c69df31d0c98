"""Put the plan of an orchestrator file together: its phases, and which agents' plans it needs."""

from __future__ import annotations

import posixpath

from stagec.core.canonical import to_count
from stagec.core.json import list_of, object_of, text_in
from stagec.frontends.orchestrator.closing import read_closing
from stagec.frontends.orchestrator.document import FAILED, MAX_CYCLES, OTHERWISE, Performer, Phase, PhaseType, Workflow
from stagec.frontends.orchestrator.freezing.comments import freeze_comments
from stagec.model.flow import Edge as FlowEdge
from stagec.model.flow import Flow, To
from stagec.plan.act import Delegate, Rest
from stagec.plan.agents import SUCCESS, TRANSFORMER
from stagec.plan.document import Contents, Draft, Limits, Names, Phases, Plan
from stagec.plan.gate import AgentGate, RestGate
from stagec.plan.node import Edge, Go, Node, Outcome, Stop
from stagec.sources.read import Sources

_PAUSE = 10_000
"""Milliseconds between two phases where the file does not say."""
_AGENTS = ".agent"
_ENDS = {PhaseType.TERMINAL: Outcome.DONE, PhaseType.BLOCKING: Outcome.BLOCKED}
_ANY_OTHER = "any other"
"""What all other outcomes count as where one has the usual name for that."""


def freeze(document: Workflow, flow: Flow, _sources: Sources) -> Draft:
    """Return the draft of the plan of an orchestrator file without errors; those of its agents are not in it."""
    contents = Contents()
    performers = {name: document.find_performer(phase) for name, phase in document.phases.items()}
    nodes = {
        name: _freeze_phase(phase, performers[name], flow, document, contents)
        for name, phase in document.phases.items()
    }
    phases = _freeze_rules(document)
    plan = Plan(
        id=flow.id,
        names=Names(flow.names["node"], flow.names["outcome"]),
        entries={name: entry.node for name, entry in flow.entries.items()},
        entry=next(iter(flow.entries)) if len(flow.entries) == 1 else None,
        version=text_in(document.body, "version"),
        nodes=nodes,
        contents=contents.texts,
        limits=Limits(phases.most + 1),
        phases=phases,
    )
    agents = {
        phase.agent or "": _find_folder(document, performers[phase.id], phase.agent or "")
        for phase in document.phases.values()
        if phase.type not in _ENDS
    }
    return Draft(plan, frozenset({document.at.file}), agents)


def _find_folder(document: Workflow, performer: Performer | None, agent: str) -> str:
    """Return the folder of an agent: beside the file, or in the folder of agents."""
    folder = posixpath.dirname(document.at.file)
    named = agent if performer is None else text_in(performer.body, "directory") or agent
    return posixpath.normpath(posixpath.join(folder if posixpath.basename(folder) == _AGENTS else _AGENTS, named))


def _freeze_rules(document: Workflow) -> Phases:
    """Return the bounds of a run, the wait between phases, and the labels."""
    rules, prefix = object_of(document.body.get("rules")), document.prefix
    labels: dict[str, list[str]] = {}
    for label, mention in document.labels.items():
        labels.setdefault(mention.name, []).append(_add_prefix(prefix, label))
    ordering = list_of(object_of(document.body.get("prioritizer")).get("labels"))
    return Phases(
        most=document.max_cycles or MAX_CYCLES,
        row=to_count(rules.get("maxConsecutivePhases")) or 0,
        pause=_PAUSE if "cycleDelayMs" not in rules else to_count(rules["cycleDelayMs"]) or 0,
        labels={phase: tuple(each) for phase, each in labels.items()},
        ordering=tuple(_add_prefix(prefix, each) for each in ordering if isinstance(each, str)),
    )


def _add_prefix(prefix: str, label: str) -> str:
    return f"{prefix}:{label}" if prefix else label


def _freeze_phase(
    phase: Phase, performer: Performer | None, flow: Flow, document: Workflow, contents: Contents
) -> Node:
    edges = flow.nodes[phase.id].edges
    if performer is None:
        outcome = _ENDS.get(phase.type or PhaseType.BLOCKING, Outcome.BLOCKED)
        said = edges[0].outcome if edges else outcome.value
        return Node(Rest(), RestGate(said), (Edge(said, Stop(outcome)),), kind=_name_type(phase))
    gate = _freeze_gate(performer, edges)
    ways = tuple(
        Edge(gate.otherwise if _is_fallback(performer, each) else each.outcome, Go(each.target.nodes[0]))
        for each in edges
        if isinstance(each.target, To)
    )
    closes, condition = read_closing(performer.body)
    act = Delegate(performer.id, freeze_comments(document.body, performer.id, contents), closes, condition)
    is_whole = any(each.on == gate.otherwise for each in ways)
    others = () if is_whole else (Edge(gate.otherwise, Stop(Outcome.FAILED)),)
    return Node(act, gate, (*ways, *others), kind=_name_type(phase))


def _name_type(phase: Phase) -> str | None:
    return None if phase.type is None else phase.type.value


def _freeze_gate(performer: Performer, edges: tuple[FlowEdge, ...]) -> AgentGate:
    role = TRANSFORMER if performer.role is None else performer.role.value
    if role == TRANSFORMER and not performer.exceptions:
        return AgentGate(role, (SUCCESS,), FAILED)
    named = tuple(dict.fromkeys(each.outcome for each in edges if not _is_fallback(performer, each)))
    outcomes = (SUCCESS, *named) if role == TRANSFORMER and SUCCESS not in named else named
    otherwise = _ANY_OTHER if OTHERWISE in outcomes else OTHERWISE
    return AgentGate(role, outcomes, otherwise, verdicts=role == TRANSFORMER)


def _is_fallback(performer: Performer, edge: FlowEdge) -> bool:
    """Tell whether an edge is that of all outcomes which have none of their own."""
    return edge.outcome == OTHERWISE and performer.fallback is not None and edge.at == performer.fallback.at
