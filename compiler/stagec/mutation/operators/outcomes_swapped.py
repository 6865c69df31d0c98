"""Two outcomes of a node swap their targets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_node, operator
from stagec.plan import Plan


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Swap the targets of each two edges of a node that have different outcomes, or different conditions."""
    for name, node in plan.nodes.items():
        for one, other in combinations(range(len(node.edges)), 2):
            first, second = node.edges[one], node.edges[other]
            if first.target == second.target:
                continue
            edges = [*node.edges]
            edges[one], edges[other] = (
                replace(first, target=second.target),
                replace(second, target=first.target),
            )
            both = f"{quote(first.on)} ({one + 1}) and {quote(second.on)} ({other + 1})"
            told = f"the edges on {both} lead where the other one leads"
            wanted = "a run that takes one of them, and its 'path'"
            yield change_node(plan, name, ("edges", one), told, wanted, edges=tuple(edges))
