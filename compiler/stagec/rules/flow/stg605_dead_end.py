"""Runs reach a node from which nothing leads on, and which does not complete them.

## Why this matters
Whatever the node answers, the run fails or stands still there.

## How to fix
Give the node an outcome that leads on, or make it one that completes the run. In a pipeline, a stage with a check that
fails every result is left only by a case for `verdict: fail`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.graph import Graph, noun
from stagec.rules.flow import ends, first_ways, only_awaited, rule


@rule(
    since="0.1",
    origin=("steps-registry:flow.no-closure", "steps-registry:flow.entry-no-closure", "climpt-1.14:wf.flow-trap"),
)
def check(graph: Graph) -> Iterator[Finding]:
    if not graph.exact or graph.flow.suspect:
        return
    found = [trap for trap in ends(graph) if not trap.cycle]
    awaited = only_awaited(graph) if found else {}
    ways = first_ways(graph, {trap.nodes[-1] for trap in found})
    for trap in found:
        if trap.nodes[-1] in awaited:
            continue
        node = graph.flow.nodes[trap.nodes[-1]]
        related = tuple(Related(edge.at, "a run gets here by this") for edge in ways[node.id])
        message = f"{noun(graph, 'node')} {quote(node.id)} does not complete a run, and nothing can run after it"
        at = node.decided_at or node.at
        yield Finding(at, message, related, causes=(at, *graph.grounds(trap.nodes)))
