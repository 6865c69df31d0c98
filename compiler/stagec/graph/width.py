"""How many nodes of a schedule can be under way at the same time if there is room for all."""

from __future__ import annotations

from stagec.core.precedence import Precedence
from stagec.core.value import value

EXACT = 500
"""Nodes up to which the width is exact. Above, it is that of the widest level, which the exact width may exceed."""


@value
class Width:
    """So many nodes of which none needs another one, and whether there are never more."""

    nodes: tuple[int, ...]
    is_exact: bool


def measure_width(given: Precedence) -> Width:
    """Return the largest set of nodes of which none needs another one; of large schedules the widest level."""
    count = len(given.needs)
    level = max(given.list_levels(), key=len, default=[])
    if count > EXACT:
        return Width(tuple(level), is_exact=len(level) == count)
    return Width(tuple(_find_antichain(given)), is_exact=True)


def _find_antichain(given: Precedence) -> list[int]:
    """Return a largest antichain.

    Each node stands on both sides of a bipartite graph; an edge leads from a node to each that follows it. A largest
    matching joins all nodes to the fewest chains, and by the theorem of Dilworth an antichain has as many. By that of
    Kőnig they are the nodes that alternating ways from unmatched ones reach on the one side, and not on the other.
    """
    import networkx as nx

    count = len(given.needs)
    before: list[set[int]] = [set() for _ in given.needs]  # all that each node needs, directly or not
    for node in given.order:
        for each in given.needs[node]:
            before[node] |= before[each] | {each}
    after: list[list[int]] = [[] for _ in before]
    for node, many in enumerate(before):
        for each in many:
            after[each].append(node)
    graph = nx.Graph()
    graph.add_nodes_from(range(2 * count))
    graph.add_edges_from((node, count + each) for node, many in enumerate(after) for each in many)
    matching = nx.bipartite.hopcroft_karp_matching(graph, range(count))
    reached, todo = set[int](), [node for node in range(count) if node not in matching]
    sources = set(todo)
    for node in todo:  # grows while it is read
        fresh = [each for each in after[node] if each not in reached]
        reached.update(fresh)
        ahead = [matching[count + each] for each in fresh if matching[count + each] not in sources]
        sources.update(ahead)
        todo.extend(ahead)
    return [node for node in range(count) if node in sources and node not in reached]
