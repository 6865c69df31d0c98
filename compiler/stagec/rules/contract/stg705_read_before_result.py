"""A node needs the result of another one that need not have run before.

## Why this matters
A value that an earlier node hands over is there when that node has run. Where a run can come to the reader without it,
nothing has the value, and the reader cannot start. A node that reads of itself has no result at its first visit.

## How to fix
Read of a node that every way comes by, lead the other ways past it, or let the reader do without: `"required": false`,
or a `default`.
"""

from collections.abc import Iterator

from stagec.core.place import spell_path
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.graph import Graph, noun
from stagec.rules.contract import rule


@rule(since="0.1", origin=("steps-registry:beyond.input-dominance", "steps-registry:input.required-missing"))
def check(graph: Graph) -> Iterator[Finding]:
    flow = graph.flow
    kept = [each for each in flow.reads if each.kept]
    if not kept or not graph.exact or flow.suspect or flow.lost:
        return
    for read in kept:
        lost = [each for each in read.sources if not graph.is_before(each.node, read.node)]
        for source in lost:
            what = f"{noun(graph, 'node')} {quote(read.node)} needs {quote(spell_path(read.path))} of"
            gap = f"{quote(source.node)}, but a run can come there without a result of it"
            message = f"{what} {gap if source.node != read.node else 'itself, and has no result at its first visit'}"
            yield Finding(read.at, message, (Related(source.at.key, "whose result it needs"),) if source.at else ())
