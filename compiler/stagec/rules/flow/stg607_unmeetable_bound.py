"""Even the shortest run takes longer than a run may take.

## Why this matters
The bound is reached before any run can complete, so every run ends as failed. What runs at the same time counts one by
one: a fork takes as many executions as it has nodes, and its join one more.

## How to fix
Raise the bound, or shorten the way from the entry to completion.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import format_count, quote
from stagec.graph import Graph, noun
from stagec.rules.flow import rule


@rule(since="0.1", origin=("steps-registry:beyond.livelock", "rulings:R29"))
def check(graph: Graph) -> Iterator[Finding]:
    bound = graph.flow.bound
    if bound is None or not graph.exact or graph.flow.suspect:
        return
    for name, entry in graph.flow.entries.items():
        shortest = graph.shortest_run(name)
        if shortest is not None and shortest > bound.executions:
            least = format_count(shortest, noun(graph, "node"))
            message = f"a run from {quote(entry.node)} needs at least {least}, but may take only {bound.executions}"
            yield Finding(bound.at, message, (Related(entry.at, "a run begins here"),))
