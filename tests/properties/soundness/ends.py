"""From which nodes of a plan no run can complete, told from the plan alone."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.ir.plan.document import Plan
from stagec.ir.plan.node import Chain, Edge, ForEach, Fork, Go, Named, Outcome, Pick, Stop, Target, list_targets

Way = tuple[str, bool]
"""A node, and whether it runs in a branch of a fork or for an element: then only its failures lead on."""
_FAIL = "fail"


def stuck(plan: Plan) -> list[str]:
    """Return the nodes that runs may come to and that no edges lead from to completion."""
    ways = [(name, begins) for name in plan.nodes for begins in (False, True)]
    completing: set[Way] = set()
    grown = True
    while grown:
        fresh = {way for way in ways if any(_ends(plan, edge.target, completing) for edge in _edges(plan, way))}
        fresh |= {(name, True) for name, node in plan.nodes.items() if any(each.on != _FAIL for each in node.edges)}
        grown, completing = fresh != completing, fresh
    return sorted({name for name, _ in _reached(plan) - completing})


def _edges(plan: Plan, way: Way) -> Iterator[Edge]:
    name, begins = way
    return (each for each in plan.nodes[name].edges if not begins or each.on == _FAIL)


def _ends(plan: Plan, target: Target, completing: set[Way]) -> bool:
    match target:
        case Stop():
            return target.outcome is Outcome.DONE
        case Go():
            return (target.node, False) in completing or (target.otherwise, False) in completing
        case Named() | Pick():
            nodes = plan.choices[target.choices] if isinstance(target, Pick) else target.nodes
            return any((each, False) in completing for each in nodes.values())
        case Chain():
            return all((each, False) in completing for each in target.nodes)
        case ForEach():  # its list may be empty
            return target.join is None or (target.join, False) in completing
        case Fork():
            joined = target.join is None or (target.join, False) in completing
            return joined and all((each, True) in completing for each in target.nodes)


def _reached(plan: Plan) -> set[Way]:
    found = {(name, False) for name in plan.entries.values()}
    todo = list(found)
    for way in todo:  # grows while it is walked
        for edge in _edges(plan, way):
            siblings = edge.target.nodes if isinstance(edge.target, Fork | ForEach) else ()
            ahead = (
                plan.choices[edge.target.choices].values()
                if isinstance(edge.target, Pick)
                else list_targets(edge.target)
            )
            if isinstance(edge.target, ForEach) and edge.target.collect:  # the join follows whatever becomes of them
                ahead = [each for each in ahead if each == edge.target.join]
            fresh = {(each, each in siblings) for each in ahead} - found
            found |= fresh
            todo.extend(fresh)
    return found
