"""From a plan back to a flow: a run has only its plan, and drawings are made of flows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.place import Key, Place
from stagec.core.value import replace
from stagec.ir.flow import Entry, Flow, FlowNode, InnerFlow, WrittenEdge
from stagec.ir.plan import Plan
from stagec.ir.plan import node as planned
from stagec.ir.plan.act import Converse
from stagec.ir.plan.node import Fork, Go, Named, Outcome, Pick, Schedule, Target


def make_flow(plan: Plan) -> Flow:
    """Return the flow that a plan is of; places are pointers into the plan, as there are no files of a project."""
    entries = {name: each for name, each in plan.entries.items() if isinstance(each, str)}
    choices = {name: Named(nodes) for name, nodes in plan.choices.items()}
    return Flow(
        plan.id,
        _place(),
        {name: Entry(node, _place("entries", name)) for name, node in entries.items()},
        {
            name: FlowNode(
                name,
                _place("nodes", name),
                node.kind,
                tuple(_make_edges(name, node, choices)),
                deadline=node.act.deadline if isinstance(node.act, Converse) else 0,
            )
            for name, node in plan.nodes.items()
        },
        names={"node": plan.names.node, "outcome": plan.names.outcome, **_name_ends(plan)},
        schedules={name: each for name, each in plan.entries.items() if isinstance(each, Schedule)},
        inner={name: InnerFlow("", _place()) for name in _list_inner(plan)},
        deadline=plan.limits.deadline,
    )


def _list_inner(plan: Plan) -> Iterator[str]:
    """Yield the nodes that run inner flows: their names stand with a slash before those of the inner nodes."""
    for name in plan.nodes if plan.names.node == "stage" else ():
        parts = name.split("/")
        yield from ("/".join(parts[:count]) for count in range(1, len(parts)))


def _name_ends(plan: Plan) -> Mapping[str, str]:
    """Return the names of the ends of runs that differ from the usual names."""
    return {} if plan.phases is None else {Outcome.INTERRUPTED.value: Outcome.BLOCKED.value}


def _place(*pointer: Key) -> Place:
    return Place("plan", pointer)


def _make_edges(name: str, node: planned.Node, choices: Mapping[str, Named]) -> Iterator[WrittenEdge]:
    for number, edge in enumerate(node.edges):
        at = _place("nodes", name, "edges", number)
        yield WrittenEdge(name, replace(edge, target=_resolve(edge.target, choices)), at)
        if isinstance(edge.target, Go) and edge.target.otherwise is not None:
            yield WrittenEdge(name, replace(edge, target=Go(edge.target.otherwise)), at, fallback=True)


def _resolve(target: Target, choices: Mapping[str, Named]) -> Target:
    """Return a target as flows have it: many edges share one value of choices, and a fallback is an edge of its own."""
    match target:
        case Go():
            return Go(target.node)
        case Pick():
            return choices[target.choices]
        case Schedule():
            return Fork(tuple(target.needs))
        case _:
            return target
