"""A fork has no join, has one branch less, or runs its branches one after the other; a chain lacks a link."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_edge, describe_edge, list_edges, operator
from stagec.plan import Plan
from stagec.plan.node import Chain, Fork


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Change each fork and each chain."""
    for name, number, edge in list_edges(plan):
        target, told = edge.target, describe_edge(edge, number)
        if isinstance(target, Fork) and target.join is not None:
            sentence, wanted = f"{told} has no join {quote(target.join)}", "what runs after the fork"
            yield change_edge(plan, name, number, sentence, wanted, target=replace(target, join=None))
            sentence = f"{told} runs its branches one after the other, without the join"
            yield change_edge(plan, name, number, sentence, wanted, target=Chain(target.nodes))
        if isinstance(target, Fork | Chain):
            for each in target.nodes if len(target.nodes) > 1 else ():
                rest = tuple(other for other in target.nodes if other != each)
                sentence = f"{told} no longer leads to {quote(each)}"
                wanted = f"{quote(each)} in the 'path' of a run that takes it"
                yield change_edge(plan, name, number, sentence, wanted, target=replace(target, nodes=rest))
