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
    known: dict[tuple[int, frozenset[str] | None], list[Node]] = {}
    for node in graph.flow.nodes.values():
        told: dict[Place, list[tuple[Edge, list[Node]]]] = {}
        for edge in node.edges:
            foreign = _foreign(graph, edge, known) if edge.kinds is not None and not edge.repair else None
            if foreign:
                told.setdefault(edge.at, []).append((edge, foreign))
        for at, ways in told.items():
            (edge, found), *others = ways
            found = [*found, *(each for _, more in others for each in more)] if others else found
            related = tuple(Related(target.at.key, "leads here") for target in found[:_SHOWN])
            yield Finding(at, _sentence(graph, node, edge, found), related)


def _foreign(graph: Graph, edge: Edge, known: dict[tuple[int, frozenset[str] | None], list[Node]]) -> list[Node]:
    """Return the nodes an edge leads to although their kind forbids it; edges that share a target share the answer."""
    key = (id(edge.target), edge.kinds)
    if key not in known:
        found = [graph.flow.nodes[name] for name in targets(edge) if name in graph.flow.nodes]
        known[key] = [each for each in found if each.kind is not None and each.kind not in (edge.kinds or ())]
    return known[key]


def _sentence(graph: Graph, node: Node, edge: Edge, found: list[Node]) -> str:
    allowed = " or ".join(sorted(edge.kinds or ()))
    step = noun(graph, "node")
    what = f"{quote(edge.outcome)} of {node.kind} {step} {quote(node.id)} must lead to a {allowed} {step}"
    if len(found) == 1:
        return f"{what}, but {quote(found[0].id)} is a {found[0].kind} {step}"
    return f"{what}, but {listing([each.id for each in found])} are not"
