"""No run ever reaches a node that decides nothing.

## Why this matters
The node has no gate, so nothing depends on it; but it is dead weight, and its prompt is never used.

## How to fix
Lead a transition to it, delete it, or mark it as a section if it is part of other prompts.
"""

from collections.abc import Iterator

from stagec.rules.flow import Finding, Graph, Severity, is_told, noun, quote, roots, rule


@rule(since="0.1", origin=("steps-registry:flow.orphan-ungated",), severity=Severity.WARNING)
def check(graph: Graph) -> Iterator[Finding]:
    if not is_told(graph):
        return
    for name in roots(graph):
        node = graph.flow.nodes[name]
        if node.idle:
            yield Finding(node.at.key, f"{noun(graph, 'node')} {quote(name)} is never reached, and has no gate")
