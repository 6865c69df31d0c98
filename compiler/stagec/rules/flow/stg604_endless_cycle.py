"""Runs enter a cycle that none of them can leave towards an end.

## Why this matters
Whatever is answered, the run goes round until its budget is spent, and never completes. `abort` is no way out: it ends
the run as failed.

## How to fix
Allow one of these nodes an outcome that leads to where the flow completes. In a step registry only a closure step that
allows `closing` completes a run, and work reaches it by `handoff`; in a pipeline a case that names no stages does, and
so does a stage after which nothing follows; in an orchestrator file every terminal and every blocking phase ends a run.
"""

from collections.abc import Iterator

from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.graph import Graph, Trap, noun
from stagec.rules.flow import ends, roots, rule


@rule(
    since="0.1",
    origin=(
        "steps-registry:flow.entry-no-closure",
        "steps-registry:flow.cycle-no-closure",
        "steps-registry:beyond.livelock",
        "climpt-1.14:wf.flow-trap",
    ),
)
def check(graph: Graph) -> Iterator[Finding]:
    if not graph.exact or graph.flow.suspect:
        return
    for trap in ends(graph):
        if not trap.cycle:
            continue
        mistaken = _mistaken(graph, trap)
        last = graph.flow.nodes[trap.nodes[-1]]
        others = tuple(Related(graph.flow.nodes[name].at.key, "part of the cycle") for name in trap.nodes[:-1][:8])
        called = noun(graph, "node")
        what = f"{called} {quote(trap.nodes[-1])} can only lead back to itself"
        if len(trap.nodes) > 1:
            what = f"{called}s {listing(trap.nodes)} lead only to each other"
        if not graph.flow.open.isdisjoint(trap.nodes):
            what = f"{what}, or to the {called} that an answer names"
        message = f"{what}: no run that gets here can complete"
        yield Finding(mistaken or last.decided_at or last.at, message, others, causes=graph.grounds(trap.nodes))


def _mistaken(graph: Graph, trap: Trap) -> Place | None:
    """Return where an outcome leads back that may lead to a node which nothing leads to, and was likely meant to."""
    lost = {graph.flow.nodes[name].kind for name in roots(graph)}
    edges = (edge for name in trap.nodes for edge in graph.flow.nodes[name].edges)
    return next((edge.at for edge in edges if edge.kinds is not None and edge.kinds & lost), None)
