"""A name in an answer leads to another node, or to none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_edge, list_edges, operator
from stagec.plan import Plan
from stagec.plan.node import Named

_WANTED = "a run with an answer that gives this name, and its 'path'"


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Drop each name that an answer may give, and let each mean another of the nodes."""
    for name, number, edge in list_edges(plan):
        if isinstance(edge.target, Named):
            for told, nodes in _change(edge.target.nodes):
                yield change_edge(plan, name, number, told, _WANTED, target=replace(edge.target, nodes=nodes))
    for name, choices in plan.choices.items():
        for told, nodes in _change(choices):
            fields = {"choices": {**plan.choices, name: nodes}}
            yield Mutant(None, ("choices", name), told, _WANTED, fields=fields)


def _change(choices: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    for name, node in choices.items():
        rest = {key: each for key, each in choices.items() if key != name}
        if rest:
            yield f"an answer may no longer name {quote(name)}", rest
        other = next((each for each in rest.values() if each != node), None)
        if other is not None:
            yield f"the name {quote(name)} means {quote(other)} instead of {quote(node)}", {**choices, name: other}
