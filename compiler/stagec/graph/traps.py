"""Why runs are stuck: the last places they get to, of which all others that are stuck are consequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stagec.core.components import Neighbours, components, repeats
from stagec.core.value import value


@value
class Trap:
    """Nodes that a run can enter and never leave for a completing end: a cycle without an exit, or a dead end.

    Every node that is stuck belongs to a trap, leads into one, or needs a node that could not start in any case.
    """

    nodes: tuple[str, ...]
    cycle: bool


def find_traps(leads: Neighbours, starts: Sequence[bool], waits: Sequence[bool]) -> Iterator[tuple[list[int], bool]]:
    """Yield the nodes of each trap and whether it is a cycle; `waits` tells of each node whether it counts.

    A node that does not complete needs another such node on each of its edges, unless they all fail; a trap is a
    component of them that needs no other. One in which nothing can start is no trap: nothing gets there. What cannot
    start only because one of the others does not complete does not count: then that is the reason.
    """
    kept = [[each for each in targets if waits[each]] if waits[node] else [] for node, targets in enumerate(leads)]
    found = [-1] * len(leads)
    for at, component in enumerate(components(kept)):
        for node in component:
            found[node] = at
        if not waits[component[0]] or not any(starts[node] for node in component):
            continue
        if all(found[each] == at for node in component for each in kept[node]):
            yield component, repeats(kept, component)
