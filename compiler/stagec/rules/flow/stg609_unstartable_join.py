"""A join waits for a node that can never end well, so that it never runs.

## Why this matters
A join starts only when everything that it waits for has succeeded. Where one of these nodes always fails, every run
that gets there fails, and what the others did is lost.

## How to fix
Let the node succeed, or give it a way on for its failures that ends well. In a pipeline these are checks that do not
fail every result, or a branch of recovery: a case for `verdict: fail`.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.graph import Graph, noun
from stagec.model.flow import To
from stagec.rules.flow import ends, only_awaited, rule


@rule(since="0.1", origin=("rulings:pipelines",))
def check(graph: Graph) -> Iterator[Finding]:
    if not graph.exact or graph.flow.suspect:
        return
    stuck = [trap.nodes[-1] for trap in ends(graph) if not trap.cycle]
    awaited = only_awaited(graph) if stuck else {}
    for name in stuck:
        node, said = graph.flow.nodes[name], set[str]()
        for way in awaited.get(name, ()):
            join = way.target.join if isinstance(way.target, To) else None
            if join is not None and join not in said:
                said.add(join)
                message = f"{quote(join)} can never run as the join of {quote(way.source)}"
                because = f"{noun(graph, 'node')} {quote(name)}, which it waits for, never succeeds"
                related = (Related(node.decided_at or node.at, "fails here"),)
                yield Finding(way.at, f"{message}: {because}", related, causes=graph.grounds((name,)))
