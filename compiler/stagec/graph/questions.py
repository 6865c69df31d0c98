"""What can be asked about a flow, whoever answers."""

from __future__ import annotations

from typing import Protocol

from stagec.core.value import value
from stagec.model.flow import Edge, Flow


@value
class Trap:
    """Nodes that a run can enter and never leave for a completing end: a cycle without an exit, or a dead end.

    Every node that is stuck belongs to a trap, leads into one, or needs a node that could not start in any case.
    """

    nodes: tuple[str, ...]
    cycle: bool


def noun(graph: Questions, thing: str) -> str:
    """Return what the flow's system calls a `node` or an `outcome`."""
    return graph.flow.names.get(thing, thing)


class Questions(Protocol):
    """The questions; node ids in flow order wherever an order is left open."""

    @property
    def flow(self) -> Flow:
        """The flow they are asked about."""

    @property
    def exact(self) -> bool:
        """Whether all edges and entries are known, so that something may be said about what is absent."""

    @property
    def dangling(self) -> tuple[Edge, ...]:
        """The edges that name a node which does not exist; no answer regards them."""

    def startable(self) -> frozenset[str]:
        """Return the nodes that can start, all entries taken together."""

    def startable_from(self, entry: str) -> frozenset[str]:
        """Return the nodes that can start in a run from one entry.

        A node that starts on any edge starts when one can be taken, a node that starts on all when each can. A join
        starts when every node of its scope can start and end; in a chain each starts when those before it can end.
        """

    def unstartable(self) -> tuple[str, ...]:
        """Return the nodes that can never start."""

    def completing(self) -> frozenset[str]:
        """Return the nodes from which a run, or the scope they are in, can end as done.

        A fork or chain ends when each of its nodes ends and its join, if it has one, does. `Back` is taken to lead to
        every node that has an edge to the one it leaves. Whether nodes can start at all is not asked here.
        """

    def stuck(self) -> tuple[str, ...]:
        """Return the nodes that can start and are not completing."""

    def traps(self) -> tuple[Trap, ...]:
        """Return the places where stuck runs end up, each once."""

    def components(self) -> tuple[tuple[str, ...], ...]:
        """Return the strongly connected components, each behind all it leads to.

        A node leads to all nodes of its targets, joins included, and by `Back` to those with an edge to it.
        """

    def cycles(self) -> tuple[tuple[str, ...], ...]:
        """Return the components that lead back into themselves."""

    def shortest_run(self, entry: str) -> int | None:
        """Return the least number of node executions with which a run completes, None when none does.

        Never too many: where branches of a fork meet in a node that starts on all edges, only the longest counts.
        """

    def longest_run(self, entry: str) -> int | None:
        """Return the largest number of node executions of any run, however it ends, None when there is no limit.

        Never too few: what several branches of a fork lead to counts for each of them.
        """
