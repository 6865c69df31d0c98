"""Plans in which each repeat of a node that bounds its repeats is a node of its own, so that ways can be counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.value import replace, value
from stagec.plan.act import Prompt
from stagec.plan.document import Plan
from stagec.plan.node import Edge, Go, Node

_MOST = 2_000
"""Nodes that are added; of plans that would need more, nothing is unrolled."""
_REPEAT = "repeat"


@value
class UnrolledPlan:
    """A plan for counting, and the nodes that its added nodes stand for."""

    plan: Plan
    names: Mapping[str, str]

    def name(self, part: str) -> str:
        """Return what a part of a way is called in the plan itself."""
        return self.names.get(part, part)

    def list_names(self, parts: Iterable[str]) -> tuple[str, ...]:
        """Return what some parts are called, each once."""
        return tuple(dict.fromkeys(map(self.name, parts)))


def unroll(plan: Plan) -> UnrolledPlan:
    """Return a plan whose bounded repeats lead to further nodes instead of back; the last of them cannot repeat."""
    chains = {name: _count_repeats(name, node) for name, node in plan.nodes.items()}
    total = sum(each for each in chains.values() if each is not None)
    if total > _MOST or all(each is None for each in chains.values()):
        return UnrolledPlan(plan, {})
    nodes: dict[str, Node] = {}
    names: dict[str, str] = {}
    for name, node in plan.nodes.items():
        repeats = chains[name]
        copies = [name, *(f"{name}\0{index}" for index in range(1, (repeats or 0) + 1))]
        names.update(dict.fromkeys(copies[1:], name))
        for copy, following in zip(copies, [*copies[1:], None], strict=True):
            nodes[copy] = node if repeats is None else replace(node, edges=tuple(_lead(node, following)))
    return UnrolledPlan(replace(plan, nodes=nodes), names)


def _count_repeats(name: str, node: Node) -> int | None:
    """Return how often a node can repeat itself in a row, nothing where that is no part of its own.

    A validation that fails leads back to what came before the first of these executions: there nothing is unrolled.
    """
    act, validation = node.act, node.validation
    if not isinstance(act, Prompt) or act.repeats is None or (validation is not None and validation.action == "retry"):
        return None
    leads_back = all(edge.target == Go(name) for edge in node.edges if edge.on == _REPEAT)
    return len(act.repeats) if leads_back else None


def _lead(node: Node, following: str | None) -> Iterator[Edge]:
    for edge in node.edges:
        if edge.on != _REPEAT:
            yield edge
        elif following is not None:
            yield replace(edge, target=Go(following))
