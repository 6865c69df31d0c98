"""A plan with one thing changed, and what makes such plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from inspect import cleandoc
from typing import Any

from stagec.core.canonical import compact, digest
from stagec.core.json import Json
from stagec.core.place import Pointer
from stagec.core.shelf import docstring
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import quote
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Act
from stagec.ir.plan.node import Edge, Node


@value
class Mutant:
    """One thing of a plan, changed.

    `node` is the only node whose executions differ; None where the run as a whole does. `at` points into the plan as
    `docs/plan-format.md` has it. `told` says what was changed, `wanted` what a test has to expect to notice it. `nodes`
    and `fields` are what stands in the plan instead; texts of `fields["contents"]` stand beside those of the plan.
    """

    node: str | None
    at: Pointer
    told: str
    wanted: str
    nodes: Mapping[str, Node] = NOTHING
    fields: Mapping[str, Any] = NOTHING
    operator: str = ""

    def apply(self, plan: Plan) -> Plan:
        """Return the plan with the change, without facts: those of the plan may be none of it."""
        contents = {**plan.contents, **self.fields.get("contents", {})}
        fields = {**self.fields, "contents": contents, "nodes": {**plan.nodes, **self.nodes}}
        return replace(plan, **{"facts": None, **fields})


Mutate = Callable[[Plan], Iterator[Mutant]]


@value
class Operator:
    """A kind of change: its name, its page, and what makes the mutants of a plan."""

    name: str
    page: str
    mutate: Mutate

    def list_mutants(self, plan: Plan) -> Iterator[Mutant]:
        """Yield the mutants of a plan, always in the same order."""
        for each in self.mutate(plan):
            yield replace(each, operator=self.name)


def operator(mutate: Mutate) -> Operator:
    """Declare the decorated function as the operator that has its name, and its docstring as the operator's page."""
    return Operator(mutate.__name__.replace("_", "-"), cleandoc(docstring(mutate)), mutate)


def change_node(plan: Plan, name: str, way: Pointer, told: str, wanted: str, **fields: Any) -> Mutant:
    """Return a mutant in which some fields of a node differ; `way` leads from the node to what was changed."""
    nodes = {name: replace(plan.nodes[name], **fields)}
    return Mutant(name, ("nodes", name, *way), f"{quote(name)}: {told}", wanted, nodes)


def change_act(plan: Plan, name: str, way: Pointer, told: str, wanted: str, **fields: Any) -> Mutant:
    """Return a mutant in which some fields of what a node does differ."""
    act: Act = replace(plan.nodes[name].act, **fields)
    return change_node(plan, name, ("act", *way), told, wanted, act=act)


def change_edge(plan: Plan, name: str, number: int, told: str, wanted: str, **fields: Any) -> Mutant:
    """Return a mutant in which some fields of an edge differ."""
    edges = [*plan.nodes[name].edges]
    edges[number] = replace(edges[number], **fields)
    return change_node(plan, name, ("edges", number), told, wanted, edges=tuple(edges))


def add_text(mutant: Mutant, text: Json) -> tuple[str, Mutant]:
    """Return the name under which a mutant has a schema in its contents, and the mutant with it."""
    written = compact(text)
    name = digest(written.encode())
    contents = {**mutant.fields.get("contents", {}), name: written}
    return name, replace(mutant, fields={**mutant.fields, "contents": contents})


def list_edges(plan: Plan) -> Iterator[tuple[str, int, Edge]]:
    """Yield every edge with its node and its number there."""
    for name, node in plan.nodes.items():
        yield from ((name, number, edge) for number, edge in enumerate(node.edges))


def describe_edge(edge: Edge, number: int) -> str:
    """Return what an edge is called: `the edge on 'ok'`, with its number where it has conditions."""
    return f"the edge on {quote(edge.on)}{f', case {number + 1},' if edge.when else ''}"
