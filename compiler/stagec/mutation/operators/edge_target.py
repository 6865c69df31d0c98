"""An edge leads to another node."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_edge, describe_edge, list_edges, operator
from stagec.plan import Plan
from stagec.plan.node import Chain, Fork, Go, Target, list_targets


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Let each edge lead to the next node of the plan that it does not lead to; each member of a fork as well."""
    for name, number, edge in list_edges(plan):
        for other, node, target in _redirect(plan, edge.target):
            beside = "" if isinstance(target, Go) else ", beside others"
            told = f"{describe_edge(edge, number)} leads to {quote(other)} instead of {quote(node)}{beside}"
            wanted = f"a run that takes it, and {quote(node)} in its 'path'"
            yield change_edge(plan, name, number, told, wanted, target=target)


def _redirect(plan: Plan, target: Target) -> Iterator[tuple[str, str, Target]]:
    """Yield targets with another node in the place of one, and the two."""
    if isinstance(target, Go):
        other = _find_other(plan, (target.node,), target.node)
        yield from () if other is None else [(other, target.node, replace(target, node=other))]
    elif isinstance(target, Fork | Chain):
        for index, each in enumerate(target.nodes):
            other = _find_other(plan, list_targets(target), each)
            if other is not None:
                nodes = (*target.nodes[:index], other, *target.nodes[index + 1 :])
                yield other, each, replace(target, nodes=nodes)


def _find_other(plan: Plan, taken: tuple[str, ...], node: str) -> str | None:
    """Return the first node after another one, in the order of the plan, that is not taken."""
    names = [*plan.nodes]
    at = names.index(node)
    return next((each for each in (*names[at + 1 :], *names[:at]) if each not in taken), None)
