"""An outcome leads to a node of a kind that it must not lead to.

## Why this matters
Kinds keep a flow in order: work is verified and handed off, and only closure ends a run. A transition that skips this
order reaches closure without a hand-off, or goes back where no way on is foreseen.

| from | outcome | may lead to |
|---|---|---|
| work | next, jump | work, verification |
| work | handoff | closure, or the first step of another flow |
| verification | escalate | work, verification |
| closure | repeat | itself, work |

## How to fix
Lead the transition to a node of a fitting kind, or use the outcome that may lead to this one. Whoever deletes the
transition deletes its intent from `allowedIntents` and from the schema's enum as well.
"""

from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.graph import Graph, noun
from stagec.model.flow import Edge, Node
from stagec.rules.flow import rule, targets

_SHOWN = 8


@rule(since="0.1", origin=("steps-registry:flow.boundary",))
def check(graph: Graph) -> Iterator[Finding]:
    for node in graph.flow.nodes.values():
        told: dict[Place, list[tuple[Edge, Node]]] = {}
        for edge in node.edges:
            for target in _foreign(graph, edge) if edge.kinds is not None else ():
                told.setdefault(edge.at, []).append((edge, target))
        for at, found in told.items():
            related = tuple(Related(target.at.key, "leads here") for _, target in found[:_SHOWN])
            yield Finding(at, _sentence(graph, node, found[0][0], [target for _, target in found]), related)


def _foreign(graph: Graph, edge: Edge) -> list[Node]:
    """Return the nodes an edge leads to although their kind forbids it."""
    if edge.kinds is None or edge.repair:
        return []
    found = [graph.flow.nodes.get(name) for name in targets(edge)]
    return [node for node in found if node is not None and node.kind is not None and node.kind not in edge.kinds]


def _sentence(graph: Graph, node: Node, edge: Edge, found: list[Node]) -> str:
    allowed = " or ".join(sorted(edge.kinds or ()))
    step = noun(graph, "node")
    what = f"{quote(edge.outcome)} of {node.kind} {step} {quote(node.id)} must lead to a {allowed} {step}"
    if len(found) == 1:
        return f"{what}, but {quote(found[0].id)} is a {found[0].kind} {step}"
    return f"{what}, but {listing([each.id for each in found])} are not"
