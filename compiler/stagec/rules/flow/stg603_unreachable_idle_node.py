"""No run ever reaches a node, and none needs it.

## Why this matters
Runs are sound without the node, but it is dead weight: its prompt is never used, and whoever reads the project believes
that it is. In a pipeline any stage can be left out; in a step registry a step without a gate can, unless steps with a
gate are reached only from it ([STG601](STG601.md)).

## How to fix
Let another node lead to it, or delete it. In a step registry, mark it as a section if it is part of other prompts.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.graph import Graph, noun
from stagec.rules.flow import find_ignored, is_told, leading_to_gates, roots, rule


@rule(
    since="0.1",
    origin=("steps-registry:flow.orphan-ungated", "stage-definitions:stage-unreachable"),
    severity=Severity.WARNING,
)
def check(graph: Graph) -> Iterator[Finding]:
    if not is_told(graph):
        return
    heavy = leading_to_gates(graph)
    lost = [name for name in roots(graph) if name not in heavy]
    ignored = find_ignored(graph, lost)
    for name in lost:
        why, ways = ignored.get(name, ("", ()))
        message = f"{noun(graph, 'node')} {quote(name)} is never reached, and no run needs it{why}"
        yield Finding(graph.flow.nodes[name].at.key, message, ways)
