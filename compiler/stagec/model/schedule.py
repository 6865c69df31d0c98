"""What begins in the order of its needs, and where these are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from stagec.core.place import Place
from stagec.core.precedence import order_names
from stagec.core.value import NOTHING, value


@value
class Need:
    """A node that has to complete before another one begins, and where that is written.

    What is `inferred` follows from an input, at this place.
    """

    node: str
    at: Place
    inferred: bool = False


@value
class Schedule:
    """One way of starting a run: where it is written, and its nodes, each with what it needs.

    A node begins as soon as all that it needs have completed, whichever of them is the last. The schedule completes
    when every node of it does. `times` are the seconds that each node is meant to take, empty where nobody says.
    """

    needs: Mapping[str, tuple[Need, ...]]
    at: Place
    times: Mapping[str, float] = NOTHING

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        """The names of what each node needs."""
        if isinstance(self.needs, PlacedNeeds):
            return self.needs.names
        return {node: tuple([each.node for each in needs]) for node, needs in self.needs.items()}

    def find_critical(self) -> tuple[str, ...]:
        """Return the chain of nodes that takes longest: the critical path; none where nothing is known of times."""
        names = tuple(self.names)
        if self.times.keys() < set(names):
            return ()
        found = order_names(self.names).find_longest([_count_milliseconds(self.times[name]) for name in names])
        return tuple([names[node] for node in found.nodes])


class PlacedNeeds(Mapping[str, tuple[Need, ...]]):
    """What each node of a schedule needs; where that is written is looked up only of those that are asked about."""

    def __init__(self, names: Mapping[str, tuple[str, ...]], place: Callable[[str], tuple[Need, ...]]) -> None:
        self.names = names
        self._place = place

    def __getitem__(self, node: str) -> tuple[Need, ...]:
        return self._place(node) if self.names[node] else ()

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


_LONGEST = 10**9
"""Seconds; what is longer, as nobody means it, counts as this."""


def _count_milliseconds(seconds: float) -> int:
    """Return a time as a whole number; what is no number, or less than nothing, is nothing."""
    return round(1000 * min(_LONGEST, max(0, seconds)))
