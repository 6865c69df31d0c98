"""Persistent collections: a changed copy shares what has not changed, because every event makes a new state."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Table(Mapping[K, V]):
    """Entries by name, in the order in which the names came first.

    The latest changes lie over the others, and are merged into them once there are as many as the square root of those:
    so a change costs about as much as copying that many entries.
    """

    __slots__ = ("_latest", "_old")

    def __init__(self, old: Mapping[K, V] | None = None, latest: Mapping[K, V] | None = None) -> None:
        self._old: Mapping[K, V] = {} if old is None else old
        self._latest: Mapping[K, V] = {} if latest is None else latest

    def having(self, name: K, entry: V) -> Table[K, V]:
        """Return a table with one more entry, or with another one under its name."""
        return self._merge({**self._latest, name: entry})

    def having_all(self, entries: Mapping[K, V]) -> Table[K, V]:
        """Return a table with more entries, or with others under their names."""
        return self._merge({**self._latest, **entries})

    def _merge(self, latest: Mapping[K, V]) -> Table[K, V]:
        if len(latest) * len(latest) > len(self._old):
            return Table({**self._old, **latest})
        return Table(self._old, latest)

    def __getitem__(self, name: K) -> V:
        """Return the entry of a name."""
        latest = self._latest
        return latest[name] if name in latest else self._old[name]

    def __iter__(self) -> Iterator[K]:
        """Yield the names."""
        yield from self._old
        yield from (name for name in self._latest if name not in self._old)

    def __len__(self) -> int:
        """Return how many entries there are."""
        return len(self._old) + sum(name not in self._old for name in self._latest)

    def __repr__(self) -> str:
        """Show the entries as a dictionary does."""
        return repr(dict(self))


class Queue(Generic[V]):
    """Elements in the order in which they came: the first one leaves at no cost.

    What has come lately lies apart, and is merged like the changes of a `Table`.
    """

    __slots__ = ("_first", "_latest", "_old")

    def __init__(self, old: tuple[V, ...] = (), first: int = 0, latest: tuple[V, ...] = ()) -> None:
        self._old, self._first, self._latest = old, first, latest

    def having(self, more: Iterable[V]) -> Queue[V]:
        """Return a queue with more elements at its end."""
        latest = (*self._latest, *more)
        if len(latest) * len(latest) > len(self._old) - self._first:
            return Queue((*self._old[self._first :], *latest))
        return Queue(self._old, self._first, latest)

    def take(self) -> tuple[V, Queue[V]]:
        """Return the first element and the queue of the others; there must be one."""
        following = self._first + 1
        others = Queue(self._old, following, self._latest) if following < len(self._old) else Queue(self._latest)
        return self._old[self._first], others

    def __iter__(self) -> Iterator[V]:
        """Yield the elements."""
        for place in range(self._first, len(self._old)):
            yield self._old[place]
        yield from self._latest

    def __len__(self) -> int:
        """Return how many elements there are."""
        return len(self._old) - self._first + len(self._latest)

    def __eq__(self, other: object) -> bool:
        """Tell whether the elements are equal."""
        return isinstance(other, Queue) and len(self) == len(other) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """Return what equal queues have in common."""
        return hash(tuple(self))

    def __repr__(self) -> str:
        """Show the elements as a tuple does."""
        return repr(tuple(self))
