"""A prompt reads something that the schema of the result it is taken from does not declare.

## Why this matters
The schema is open, so the node may hand it in, but nothing asks the model for it. When it is not there, the prompt
cannot be filled in and the run fails; often the path is only misspelt.

## How to fix
Correct the path, or declare the member in the schema of the node that hands it in, and require it.
"""

from collections.abc import Iterator

from stagec.contract.promise import Presence
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.graph import Graph
from stagec.rules.contract import guess_read, nearest, owners, reading, relate_sources, rule, tell


@rule(since="0.1", origin=("stage-definitions:upstream-parsed-path",), severity=Severity.WARNING)
def check(graph: Graph) -> Iterator[Finding]:
    for read, sources, again in reading(graph, Presence.UNDECLARED):
        what = tell(graph, read)
        message = f"{what}, which the schema of {owners(graph, sources)} does not declare{nearest(read, sources[0])}"
        causes = graph.grounds(each.node for each in sources)
        yield Finding(read.at, message, (*relate_sources(sources), *again), guess_read(read, sources[0]), causes)
