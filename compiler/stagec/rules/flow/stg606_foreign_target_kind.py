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
Lead the transition to a node of a fitting kind, or use the outcome that may lead to this one.
"""

from collections.abc import Iterator

from stagec.rules.flow import Edge, Finding, Graph, Node, Related, noun, quote, rule, targets


@rule(since="0.1", origin=("steps-registry:flow.boundary",))
def check(graph: Graph) -> Iterator[Finding]:
    for node in graph.flow.nodes.values():
        for edge in node.edges:
            for target in _foreign(graph, edge):
                yield Finding(edge.at, _sentence(graph, node, edge, target), (Related(target.at.key, "leads here"),))


def _foreign(graph: Graph, edge: Edge) -> list[Node]:
    """Return the nodes an edge leads to although their kind forbids it."""
    if edge.kinds is None or edge.repair:
        return []
    found = [graph.flow.nodes.get(name) for name in targets(edge)]
    return [node for node in found if node is not None and node.kind is not None and node.kind not in edge.kinds]


def _sentence(graph: Graph, node: Node, edge: Edge, target: Node) -> str:
    allowed = " or ".join(sorted(edge.kinds or ()))
    step = noun(graph, "node")
    what = f"{quote(edge.outcome)} of {node.kind} {step} {quote(node.id)} must lead to a {allowed} {step}"
    return f"{what}, but {quote(target.id)} is a {target.kind} {step}"
