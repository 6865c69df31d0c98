"""A stage no longer waits for another stage, and does not get its outputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stagec.core.place import Pointer
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, list_edges, operator
from stagec.plan import Plan
from stagec.plan.act import Process
from stagec.plan.node import Node, Schedule


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Drop each need of each schedule, with the inputs of the process that come from there."""
    for entry, begun in plan.entries.items():
        if isinstance(begun, Schedule):
            for node, need, schedule in _drop(begun):
                fields = {"entries": {**plan.entries, entry: schedule}}
                yield _tell(plan, ("entries", entry, "needs", node), (node, need), fields, {})
    for name, number, edge in list_edges(plan):
        if isinstance(edge.target, Schedule):
            for node, need, schedule in _drop(edge.target):
                edges = [*plan.nodes[name].edges]
                edges[number] = replace(edge, target=schedule)
                nodes = {name: replace(plan.nodes[name], edges=tuple(edges))}
                yield _tell(plan, ("nodes", name, "edges", number, "target", "needs", node), (node, need), {}, nodes)


def _drop(schedule: Schedule) -> Iterator[tuple[str, str, Schedule]]:
    for node, needs in schedule.needs.items():
        for need in needs:
            rest = tuple(each for each in needs if each != need)
            yield node, need, Schedule({**schedule.needs, node: rest})


def _tell(
    plan: Plan, at: Pointer, pair: tuple[str, str], fields: Mapping[str, Any], nodes: Mapping[str, Node]
) -> Mutant:
    node, need = pair
    act = plan.nodes[node].act
    if isinstance(act, Process):
        inputs = {name: each for name, each in act.inputs.items() if each.node != need}
        if len(inputs) < len(act.inputs):
            changed = nodes.get(node, plan.nodes[node])
            nodes = {**nodes, node: replace(changed, act=replace(act, inputs=inputs))}
    told = f"{quote(node)} does not wait for {quote(need)}"
    wanted = f"a run in which {quote(need)} does not end as done, or the 'inputs' of {quote(node)}"
    return Mutant(None, at, told, wanted, nodes, fields)
