"""A stage reads or demands something that the result it is taken from may leave out.

## Why this matters
The schema of the node that hands it in declares the path and does not require it: a result without it is accepted, and
then the prompt cannot be filled in, or the result does not fit the `inputsSchema` of the stage. An element of a list is
there for sure only where `minItems` says so. Where conditions (`if`, `dependentRequired`, …) decide whether the path is
required, stagec may not be able to show that it always is; then it says so.

## How to fix
Require every part of the path in that schema, or read a whole that is always there.
"""

from collections.abc import Iterator

from stagec.contract.promise import Presence
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding, Related
from stagec.graph import Graph
from stagec.model.flow import Source
from stagec.rules.contract import owners, reading, rule, tell


@rule(since="0.1", origin=("stage-definitions:upstream-parsed-path",), severity=Severity.NOTE)
def check(graph: Graph) -> Iterator[Finding]:
    for presence, why in _WHY.items():
        for read, sources, again in reading(graph, presence):
            message = f"{tell(graph, read)}, which {why.format(owners(graph, sources))}"
            causes = graph.grounds(each.node for each in sources)
            yield Finding(read.at, message, (*_lenient(sources), *again), causes=causes)


_WHY = {
    Presence.POSSIBLE: "a result of {} may leave out",
    Presence.UNKNOWABLE: "a result of {} may leave out as far as stagec can tell",
}


def _lenient(sources: tuple[Source, ...]) -> Iterator[Related]:
    for each in sources:
        if each.promised is not None and each.promised.optional is not None:
            yield Related(each.promised.optional.at, "this schema lets it be left out")
