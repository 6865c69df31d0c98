"""From a plan back to a flow: a run has only its plan, and drawings are made of flows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.place import Key, Place
from stagec.ir.flow import Edge, End, Entry, Flow, Mode, Need, Node, Pick, Schedule, Stop, Target, Term, To
from stagec.ir.plan import Plan
from stagec.ir.plan import node as planned
from stagec.ir.plan.gate import Among, Exists, Reads
from stagec.ir.plan.gate import Term as PlannedTerm


def make_flow(plan: Plan) -> Flow:
    """Return the flow that a plan is of; places are pointers into the plan, as there are no files of a project."""
    entries = {name: each for name, each in plan.entries.items() if isinstance(each, str)}
    schedules = {name: each for name, each in plan.entries.items() if not isinstance(each, str)}
    choices = {name: _make_pick(nodes) for name, nodes in plan.choices.items()}
    return Flow(
        plan.id,
        _place(),
        {name: Entry(node, _place("entries", name)) for name, node in entries.items()},
        {
            name: Node(name, _place("nodes", name), node.kind, tuple(_make_edges(name, node, choices)))
            for name, node in plan.nodes.items()
        },
        names={"node": plan.names.node, "outcome": plan.names.outcome, **_name_ends(plan)},
        schedules={name: _make_schedule(name, each) for name, each in schedules.items()},
    )


_ENDS = {**{planned.Outcome(each.value): each for each in End}, planned.Outcome.BLOCKED: End.INTERRUPTED}


def _name_ends(plan: Plan) -> Mapping[str, str]:
    """Return the names of the ends of runs that differ from the usual names."""
    return {} if plan.phases is None else {End.INTERRUPTED.value: planned.Outcome.BLOCKED.value}


def _place(*pointer: Key) -> Place:
    return Place("plan", pointer)


def _make_schedule(name: str, schedule: planned.Schedule) -> Schedule:
    at = _place("entries", name)
    needs = {node: tuple(Need(each, at) for each in needed) for node, needed in schedule.needs.items()}
    return Schedule(needs, at)


def _make_edges(name: str, node: planned.Node, choices: Mapping[str, Pick]) -> Iterator[Edge]:
    for number, edge in enumerate(node.edges):
        at, when = _place("nodes", name, "edges", number), tuple(map(_make_term, edge.when))
        yield Edge(name, edge.on, _make_target(edge.target, choices), at, when=when)
        if isinstance(edge.target, planned.Go) and edge.target.otherwise is not None:
            yield Edge(name, edge.on, To((edge.target.otherwise,)), at, when=when, fallback=True)


def _make_target(target: planned.Target, choices: Mapping[str, Pick]) -> Target:
    match target:
        case planned.Stop():
            return Stop(_ENDS[target.outcome])
        case planned.Named():
            return _make_pick(target.nodes)
        case planned.Pick():
            return choices[target.choices]
        case planned.Fork():
            return To(target.nodes, Mode.FORK, target.join)
        case planned.Chain():
            return To(target.nodes, Mode.CHAIN)
        case planned.Go() | planned.Schedule():
            return To((target.node,)) if isinstance(target, planned.Go) else To(tuple(target.needs), Mode.FORK)


def _make_pick(names: Mapping[str, str]) -> Pick:
    return Pick(names, tuple(dict.fromkeys(names.values())))


def _make_term(term: PlannedTerm) -> Term:
    path = tuple(map(str, term.path))
    match term:
        case Among():
            return Term(path, term.values)
        case Reads():
            return Term(path, term.texts)
        case Exists():
            return Term(path, present=term.present)
