"""A mapping of which every version stays as it is, and of which the next one is made without copying it all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

V = TypeVar("V")


class Table(Mapping[str, V]):
    """Entries by name, in the order in which the names came first.

    The latest changes lie over the others, and are merged into them once there are as many as the square root of those:
    so a change costs about as much as copying that many entries.
    """

    __slots__ = ("_latest", "_old")

    def __init__(self, old: Mapping[str, V] | None = None, latest: Mapping[str, V] | None = None) -> None:
        self._old: Mapping[str, V] = {} if old is None else old
        self._latest: Mapping[str, V] = {} if latest is None else latest

    def having(self, name: str, entry: V) -> Table[V]:
        """Return a table with one more entry, or with another one under its name."""
        latest = {**self._latest, name: entry}
        if len(latest) * len(latest) > len(self._old):
            return Table({**self._old, **latest})
        return Table(self._old, latest)

    def __getitem__(self, name: str) -> V:
        """Return the entry of a name."""
        latest = self._latest
        return latest[name] if name in latest else self._old[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        yield from self._old
        yield from (name for name in self._latest if name not in self._old)

    def __len__(self) -> int:
        """Return how many entries there are."""
        return len(self._old) + sum(name not in self._old for name in self._latest)

    def __repr__(self) -> str:
        """Show the entries as a dictionary does."""
        return repr(dict(self))
