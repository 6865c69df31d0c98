"""A prompt reads something that the result it is taken from can never have.

## Why this matters
What a node hands in fits its schema, and the schema leaves no room for anything at the path: it is closed there, or the
path leads through something that is no object. The prompt cannot be filled in, so the run fails there.

## How to fix
Correct the path, or declare the member in the schema of the node that hands it in. An `output` is there only where an
exit hook makes one.
"""

from collections.abc import Iterator

from stagec.contract.promise import Presence
from stagec.core.rule import Finding
from stagec.graph import Graph
from stagec.rules.contract import guess_read, nearest, owners, reading, relate_sources, rule, tell


@rule(since="0.1", origin=("stage-definitions:upstream-parsed-path",))
def check(graph: Graph) -> Iterator[Finding]:
    for read, sources, again in reading(graph, Presence.IMPOSSIBLE):
        what = tell(graph, read)
        message = f"{what}, which no result of {owners(graph, sources)} can have{nearest(read, sources[0])}"
        causes = graph.grounds(each.node for each in sources)
        yield Finding(read.at, message, (*relate_sources(sources), *again), guess_read(read, sources[0]), causes)
