"""An edge ends the run instead of leading to a node, or ends it with another outcome."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_edge, describe_edge, list_edges, operator
from stagec.plan import Plan
from stagec.plan.node import Outcome, Stop

_OTHERS = {Outcome.DONE: Outcome.FAILED, Outcome.BLOCKED: Outcome.DONE}


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Let each edge that leads on end the branch as done, and each that ends it end it otherwise."""
    for name, number, edge in list_edges(plan):
        edge_name = describe_edge(edge, number)
        if isinstance(edge.target, Stop):
            other = _OTHERS.get(edge.target.outcome, Outcome.DONE)
            told = f"{edge_name} ends as {quote(other)} instead of {quote(edge.target.outcome)}"
            yield change_edge(plan, name, number, told, "a run that ends by it, and its 'outcome'", target=Stop(other))
        else:
            told = f"{edge_name} ends as 'done' instead of leading on"
            yield change_edge(
                plan, name, number, told, "a run that takes it, and what follows", target=Stop(Outcome.DONE)
            )
