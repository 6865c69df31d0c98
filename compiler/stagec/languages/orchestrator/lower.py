"""Lower an orchestrator file to a flow: that of an issue from phase to phase."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from stagec.core.canonical import to_count
from stagec.core.json import Object, list_of, object_of, text_in
from stagec.core.place import Mention, Place
from stagec.core.value import replace
from stagec.ir.flow import Bound, Entry, Flow, FlowNode, WrittenEdge
from stagec.ir.plan.act import Choice, Delegate, Hole, Piece, Rest, Template, Text
from stagec.ir.plan.agents import SUCCESS, TRANSFORMER
from stagec.ir.plan.document import Contents, Draft, Limits, Names, Phases, Plan
from stagec.ir.plan.gate import AgentGate, RestGate
from stagec.ir.plan.node import Edge, Go, Node, Outcome, Stop
from stagec.languages.orchestrator.document import FAILED, MAX_CYCLES, OTHERWISE, Performer, Phase, PhaseType, Workflow
from stagec.sources.read import Sources

_DIRECT = "direct"
"""The only channel that closes an issue when the outcome is known."""


def read_closing(body: Object) -> tuple[bool, str | None]:
    """Return whether an agent closes issues, and the only outcome after which it does, in either release's words."""
    binding = object_of(body.get("closeBinding"))
    if binding:
        kind = text_in(object_of(binding.get("primary")), "kind")
        return kind == _DIRECT, text_in(binding, "condition")
    return body.get("closeOnComplete") is True, text_in(body, "closeCondition")


_VARIABLE = re.compile(r"\{(\w+)\}")
_TO = "To"
"""The word between the agent and the outcome in the name of a comment."""


def freeze_comments(root: Object, agent: str, contents: Contents) -> Mapping[str, Template]:
    """Return the comments of an agent by outcome; their names begin with the agent, and go on with the outcome."""
    given = object_of(object_of(root.get("handoff")).get("commentTemplates"))
    found: dict[str, Template] = {}
    for name, text in given.items():
        if not isinstance(text, str):
            continue
        for outcome in _list_outcomes(name, agent):
            found.setdefault(outcome, tuple(_make_pieces(text, contents)))
    return found


def _list_outcomes(name: str, agent: str) -> Iterator[str]:
    """Yield the outcomes that the name of a comment may stand for; their first letter is raised in it."""
    rest = name.removeprefix(agent) if name.startswith(agent) else ""
    for each in (rest, rest.removeprefix(_TO)):
        if each and each[0] == each[0].upper():
            yield each[0].lower() + each[1:]
            yield each


def _make_pieces(text: str, contents: Contents) -> Iterator[Piece]:
    """Yield the pieces of a comment; a variable that the agent does not hand over stays as it is written."""
    last = 0
    for found in _VARIABLE.finditer(text):
        if found.start() > last:
            yield Text(contents.add(text[last : found.start()]))
        path = ("handoff", found[1])
        yield Choice(path, (Hole(path),), (Text(contents.add(found[0])),))
        last = found.end()
    if last < len(text):
        yield Text(contents.add(text[last:]))


_PAUSE = 10_000
"""Milliseconds between two phases where the file does not say."""
_AGENTS = ".agent"
_ENDS = {
    PhaseType.TERMINAL: Edge("completed", Stop(Outcome.DONE)),
    PhaseType.BLOCKING: Edge("blocked", Stop(Outcome.BLOCKED)),
}
"""The end of a run in a phase without an agent."""
_ANY_OTHER = "any other"
"""The outcome that stands for all others, if one has the usual name."""


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
        end = _ENDS.get(phase.type or PhaseType.BLOCKING, _ENDS[PhaseType.BLOCKING])
        return Node(Rest(), RestGate(end.on), (end,), kind=_name_type(phase))
    gate = _freeze_gate(performer, edges)
    ways = tuple(
        replace(each.edge, on=gate.otherwise) if _is_fallback(performer, each) else each.edge
        for each in edges
        if isinstance(each.target, Go)
    )
    closes, condition = read_closing(performer.body)
    act = Delegate(performer.id, freeze_comments(document.body, performer.id, contents), closes, condition)
    is_whole = any(each.on == gate.otherwise for each in ways)
    others = () if is_whole else (Edge(gate.otherwise, Stop(Outcome.FAILED)),)
    return Node(act, gate, (*ways, *others), kind=_name_type(phase))


def _name_type(phase: Phase) -> str | None:
    return None if phase.type is None else phase.type.value


def _freeze_gate(performer: Performer, edges: tuple[WrittenEdge, ...]) -> AgentGate:
    role = TRANSFORMER if performer.role is None else performer.role.value
    if role == TRANSFORMER and not performer.exceptions:
        return AgentGate(role, (SUCCESS,), FAILED)
    named = tuple(dict.fromkeys(each.on for each in edges if not _is_fallback(performer, each)))
    outcomes = (SUCCESS, *named) if role == TRANSFORMER and SUCCESS not in named else named
    otherwise = _ANY_OTHER if OTHERWISE in outcomes else OTHERWISE
    return AgentGate(role, outcomes, otherwise, verdicts=role == TRANSFORMER)


def _is_fallback(performer: Performer, edge: WrittenEdge) -> bool:
    """Tell whether an edge is that of all outcomes which have none of their own."""
    return edge.on == OTHERWISE and performer.fallback is not None and edge.at == performer.fallback.at


_NAMES = {"node": "phase", "outcome": "outcome", "interrupted": "blocked"}


def lower(document: Workflow) -> Flow:
    """Return the flow of an orchestrator file: its nodes are the phases, its edges the outcomes of their agents."""
    return _Lowering(document).flow()


class _Lowering:
    """Builds one flow and notes whether anything was too broken to become a part of it."""

    def __init__(self, workflow: Workflow) -> None:
        self._workflow = workflow
        self._exact = workflow.is_whole
        self._lost: list[WrittenEdge] = []
        self._lost_entries: list[tuple[str, Entry]] = []

    def flow(self) -> Flow:
        workflow = self._workflow
        nodes = {phase.id: self._make_node(phase) for phase in workflow.phases.values()}
        entries = dict(self._list_entries())
        most = workflow.max_cycles
        # a way with one transition has two phases
        bound = Bound(most + 1, workflow.max_cycles_at, counts_moves=True) if most is not None else None
        return Flow(
            id=workflow.id,
            at=workflow.at,
            entries=entries,
            nodes=nodes,
            bound=bound,
            exact=self._exact,
            names=_NAMES,
            lost=tuple(self._lost),
            lost_entries=tuple(self._lost_entries),
            exits=frozenset({Outcome.DONE, Outcome.BLOCKED}),
        )

    def _list_entries(self) -> Iterator[tuple[str, Entry]]:
        """Yield the phases with a label, and those that a project begins with and that have none."""
        labelled = {mention.name for mention in self._workflow.labels.values()}
        starts = {name: each for name, each in self._workflow.starts.items() if each.name not in labelled}
        for name, mention in (*self._workflow.labels.items(), *starts.items()):
            entry = Entry(mention.name, mention.at)
            if mention.name in self._workflow.phases:
                yield name, entry
            else:
                self._exact = False
                self._lost_entries.append((name, entry))

    def _make_node(self, phase: Phase) -> FlowNode:
        kind = phase.type.value if phase.type is not None else None
        performer = self._workflow.find_performer(phase)
        parts: list[tuple[str, Place]] = []
        if performer is not None:
            parts.append(("agent", performer.at))
            parts.extend([("agent.json", performer.definition)] if performer.definition is not None else [])
        agent = performer.id if performer is not None else None
        return FlowNode(phase.id, phase.at, kind, tuple(self._list_edges(phase)), parts=tuple(parts), agent=agent)

    def _list_edges(self, phase: Phase) -> Iterator[WrittenEdge]:
        if phase.type is None:
            self._exact = False
        elif phase.type in _ENDS:
            yield WrittenEdge(phase.id, _ENDS[phase.type], phase.at / "type")
        performer = self._workflow.find_performer(phase)
        if phase.is_actionable and (performer is None or not performer.is_whole):
            self._exact = False
        for way in performer.list_ways() if performer is not None else ():
            edge = self._lead(phase, way.outcome, way.phase)
            if edge is not None:
                yield edge

    def _lead(self, phase: Phase, outcome: str, mention: Mention) -> WrittenEdge | None:
        edge = WrittenEdge(phase.id, Edge(outcome, Go(mention.name)), mention.at)
        if mention.name in self._workflow.phases:
            return edge
        self._exact = False
        self._lost.append(edge)
        return None
