"""A cycle may be run through any number of times.

## Why this matters
Each time round is paid for, and whether a run leaves the cycle depends on answers alone. Nothing but a bound keeps it
from going on for ever.

## How to fix
Write down how many executions a run may take: in a pipeline, as `maxStageExecutions`. A run that reaches the bound ends
as failed.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.graph import Graph, noun
from stagec.model.flow import Edge
from stagec.rules.flow import ends, order, rule, targets


@rule(since="0.1", origin=("stage-definitions:pipeline-cycle",))
def check(graph: Graph) -> Iterator[Finding]:
    at = graph.flow.bound_at
    if at is None or graph.flow.bound is not None or graph.flow.suspect:
        return
    place = order(graph)
    endless = {name for trap in ends(graph) for name in trap.nodes}
    for cycle in graph.cycles():
        inside = {name: place[name] for name in sorted(place.keys() & cycle, key=lambda name: place[name])}
        closing = _closing(graph, inside, part=len(inside) < len(cycle))
        if closing is not None and endless.isdisjoint(cycle):
            what = f"{noun(graph, 'node')}{'s' if len(inside) > 1 else ''} {listing(inside)}"
            where = f"say how many executions a run may take, as {quote(at.pointer[-1])} in {quote(at.file)}"
            yield Finding(closing.at, f"{what} can run again and again without a bound; {where}")


def _closing(graph: Graph, inside: dict[str, int], *, part: bool) -> Edge | None:
    """Return the first edge that leads back; where only a part of a cycle can be entered, one that closes it there."""
    for name, place in inside.items():
        for edge in graph.flow.nodes[name].edges:
            back = [each for each in targets(edge) if inside.get(each, place + 1) <= place]
            if any(not part or name in _ahead(graph, each, inside) for each in back):
                return edge
    return None


def _ahead(graph: Graph, name: str, inside: dict[str, int]) -> dict[str, None]:
    found, todo = {name: None}, [name]
    for each in todo:  # grows while it is read
        leads = (target for edge in graph.flow.nodes[each].edges for target in targets(edge))
        fresh = [target for target in dict.fromkeys(leads) if target in inside and target not in found]
        found |= dict.fromkeys(fresh)
        todo.extend(fresh)
    return found
