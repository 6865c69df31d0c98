"""The longest duration of a schedule, its waits, and the stages that are lost when one fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from stagec.core.precedence import LongestChain, Precedence, order_names
from stagec.core.value import value
from stagec.ir.graph.usage import MOST
from stagec.ir.plan.act import Process
from stagec.ir.plan.codec import Count
from stagec.ir.plan.node import Node

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


@value
class NodeTimes:
    """The milliseconds of one node of a schedule: as planned, once until it is killed, with all attempts."""

    planned: int
    first: int
    most: int


@value
class NodeFailure:
    """The nodes that run again, or for the first time, when a run is resumed after a node has failed."""

    node: Annotated[str, "The node that has failed."]
    nodes: Annotated[Count, "The node and all that need it."]
    milliseconds: Annotated[Count, "The longest chain of these."]


@value
class ScheduleBounds:
    """The bounds of a schedule in milliseconds, and the chains that they come from.

    `planned` is the time if every process takes what it may before it is warned; `critical` its longest chain.
    `attempts` is how many attempts there are at most. `gap` is the longest chain of nodes whose results are lost
    together: none but the last has a checkpoint. `width` are nodes that can be under way at the same time. `failures`
    has those first after which the longest chain is left.
    """

    nodes: int
    attempts: int
    parallel: int
    planned: int
    first: int
    most: int
    critical: tuple[str, ...]
    slowest: tuple[str, ...]
    width: tuple[str, ...]
    is_width_exact: bool
    gap: tuple[str, ...]
    gap_milliseconds: int
    failures: tuple[NodeFailure, ...]


class ScheduleWork:
    """The nodes of a schedule with what each takes."""

    def __init__(self, needs: Mapping[str, Sequence[str]], times: Mapping[str, NodeTimes], places: int) -> None:
        self._names = tuple(needs)
        self._precedence = order_names(needs)
        self._times = [times[name] for name in self._names]
        self._places = places

    def bound(self, nodes: Mapping[str, Node]) -> ScheduleBounds:
        """Return the bounds of the schedule."""
        width = measure_width(self._precedence)
        planned, first, most = self.list_times()
        chains = [self._precedence.find_longest(times) for times in (planned, first, most)]
        totals = [self._share(chain, times, width) for chain, times in zip(chains, (planned, first, most), strict=True)]
        own = [nodes[name] for name in self._names]
        kept = [isinstance(node.act, Process) and node.act.checkpoint for node in own]  # by a checkpoint
        gap = self._precedence.find_gap(first, kept)
        return ScheduleBounds(
            nodes=len(self._names),
            attempts=min(MOST, sum(node.retry.attempts if node.retry is not None else 1 for node in own)),
            parallel=self._places,
            planned=totals[0],
            first=totals[1],
            most=totals[2],
            critical=self._name(chains[0].nodes),
            slowest=self._name(chains[2].nodes),
            width=self._name(width.nodes),
            is_width_exact=width.is_exact,
            gap=self._name(gap.nodes),
            gap_milliseconds=gap.length,
            failures=self._list_failures(first),
        )

    def list_times(self) -> tuple[list[int], list[int], list[int]]:
        """Return the durations of every node as planned, once until it is killed, and with all attempts."""
        return (
            [each.planned for each in self._times],
            [each.first for each in self._times],
            [each.most for each in self._times],
        )

    def _share(self, chain: LongestChain, times: Sequence[int], width: Width) -> int:
        """Return how long the schedule takes on its places: a free place never stays empty while a node waits for one.

        By Graham's theorem that is at most a fair share of all work, and the rest of the longest chain.
        """
        work, places = sum(times), self._places
        if width.is_exact and len(width.nodes) <= places:
            return min(MOST, chain.length)
        return min(MOST, work, -(-(work + chain.length * (places - 1)) // places))

    def _list_failures(self, times: Sequence[int]) -> tuple[NodeFailure, ...]:
        tails, counts = self._precedence.find_tails(times), self._precedence.count_followers()
        order = sorted(range(len(tails)), key=lambda node: (-tails[node], node))
        return tuple(NodeFailure(self._names[node], 1 + counts[node], min(MOST, tails[node])) for node in order)

    def _name(self, nodes: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._names[node] for node in nodes)
