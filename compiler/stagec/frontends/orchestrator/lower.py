"""What an orchestrator file means: the flow of an issue from phase to phase."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.place import Mention, Place
from stagec.frontends.orchestrator.document import Phase, PhaseType, Workflow
from stagec.model.flow import Bound, Edge, End, Entry, Flow, Node, Stop, To

_NAMES = {"node": "phase", "outcome": "outcome", "interrupted": "blocked"}
_ENDS = {PhaseType.TERMINAL: ("completed", End.DONE), PhaseType.BLOCKING: ("blocked", End.INTERRUPTED)}
"""How a run ends in a phase in which no agent works."""


def lower(document: Workflow) -> Flow:
    """Return the flow of an orchestrator file: its nodes are the phases, its edges the outcomes of their agents."""
    return _Lowering(document).flow()


class _Lowering:
    """Builds one flow and notes whether anything was too broken to become a part of it."""

    def __init__(self, workflow: Workflow) -> None:
        self._workflow = workflow
        self._exact = workflow.is_whole
        self._lost: list[Edge] = []
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
            exits=frozenset({End.DONE, End.INTERRUPTED}),
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

    def _make_node(self, phase: Phase) -> Node:
        kind = phase.type.value if phase.type is not None else None
        performer = self._workflow.find_performer(phase)
        parts: list[tuple[str, Place]] = []
        if performer is not None:
            parts.append(("agent", performer.at))
            parts.extend([("agent.json", performer.definition)] if performer.definition is not None else [])
        agent = performer.id if performer is not None else None
        return Node(phase.id, phase.at, kind, tuple(self._list_edges(phase)), parts=tuple(parts), agent=agent)

    def _list_edges(self, phase: Phase) -> Iterator[Edge]:
        if phase.type is None:
            self._exact = False
        elif phase.type in _ENDS:
            outcome, end = _ENDS[phase.type]
            yield Edge(phase.id, outcome, Stop(end), phase.at / "type")
        performer = self._workflow.find_performer(phase)
        if phase.is_actionable and (performer is None or not performer.is_whole):
            self._exact = False
        for way in performer.list_ways() if performer is not None else ():
            edge = self._lead(phase, way.outcome, way.phase)
            if edge is not None:
                yield edge

    def _lead(self, phase: Phase, outcome: str, mention: Mention) -> Edge | None:
        edge = Edge(phase.id, outcome, To((mention.name,)), mention.at)
        if mention.name in self._workflow.phases:
            return edge
        self._exact = False
        self._lost.append(edge)
        return None
