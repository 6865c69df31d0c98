"""A case of an outcome is removed, or two cases are tested in the other order."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_node, operator
from stagec.plan import Plan


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Swap each two neighbouring cases of an outcome, and take each of several away."""
    for name, node in plan.nodes.items():
        edges = node.edges
        for number, edge in enumerate(edges):
            same = [at for at, each in enumerate(edges) if each.on == edge.on]
            if len(same) > 1:
                rest = (*edges[:number], *edges[number + 1 :])
                told = f"case {number + 1} on {quote(edge.on)} is gone"
                yield change_node(plan, name, ("edges", number), told, "a run that takes this case", edges=rest)
            if number + 1 in same:
                swapped = (*edges[:number], edges[number + 1], edge, *edges[number + 2 :])
                told = f"case {number + 2} on {quote(edge.on)} is asked before case {number + 1}"
                wanted = "a run with a result that satisfies both cases"
                yield change_node(plan, name, ("edges", number), told, wanted, edges=swapped)
