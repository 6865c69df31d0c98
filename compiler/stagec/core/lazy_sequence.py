"""What an iterator yields, kept for everybody who iterates; nothing is computed before somebody comes to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

V = TypeVar("V")


class LazySequence(Generic[V]):
    """The values of one iterator, which is asked for the next value when somebody has seen all others."""

    def __init__(self, further: Iterator[V]) -> None:
        self._known: list[V] = []
        self._further = further

    def __iter__(self) -> Iterator[V]:
        """Yield the values."""
        at = 0
        while at < len(self._known) or self._find_next():
            yield self._known[at]
            at += 1

    def _find_next(self) -> bool:
        for found in self._further:
            self._known.append(found)
            return True
        return False

    @property
    def known(self) -> tuple[V, ...]:
        """The values that somebody has come to."""
        return tuple(self._known)
