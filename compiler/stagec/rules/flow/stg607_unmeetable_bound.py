"""Even the shortest run takes longer than a run may take.

## Why this matters
The bound is reached before any run can complete, so every run ends as failed. What runs at the same time counts one by
one: a fork takes as many executions as it has nodes, and its join one more.

## How to fix
Raise the bound, or shorten the way from the entry to completion.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import format_count, listing
from stagec.graph import Graph, noun
from stagec.rules.flow import rule

_SHOWN = 8


@rule(since="0.1", origin=("steps-registry:beyond.livelock", "rulings:R29", "climpt-1.14:wf.bound-too-small"))
def check(graph: Graph) -> Iterator[Finding]:
    bound = graph.flow.bound
    if bound is None or not graph.exact or graph.flow.suspect:
        return
    flow = graph.flow
    least = {name: graph.shortest_run(name) or 0 for name in (*flow.entries, *flow.schedules)}
    late = [entry for name in least if least[name] > bound.executions for entry in flow.list_begun(name)]
    if late:
        shortest = min(each for each in least.values() if each > bound.executions)
        who = listing(dict.fromkeys(each.node for each in late), "or")
        what, fewer = ("transition", 1) if bound.counts_moves else (noun(graph, "node"), 0)
        needs = f"a run from {who} needs at least {format_count(shortest - fewer, what)}"
        related = tuple(Related(each.at, "a run begins here") for each in late[:_SHOWN])
        yield Finding(bound.at, f"{needs}, but may take only {bound.executions - fewer}", related)
