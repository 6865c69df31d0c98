"""Values that are computed once, when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Memo:
    """What was worked out about one thing, such as a pipeline or the schemas of a project."""

    def __init__(self) -> None:
        self._known: dict[object, Any] = {}

    def once(self, question: object, answer: Callable[[], T]) -> T:
        """Return the answer to a question, worked out the first time it is asked."""
        if question not in self._known:
            self._known[question] = answer()
        found: T = self._known[question]
        return found


class KeptAnswers:
    """Answers that follow from their questions alone, kept from one check to the next, also of another project.

    An answer that a whole check does not ask for again is dropped.
    """

    def __init__(self) -> None:
        self._asked: dict[object, Any] = {}
        self._before: dict[object, Any] = {}

    def once(self, question: object, answer: Callable[[], T]) -> T:
        """Return the answer to a question, which says everything that the answer depends on."""
        if question not in self._asked:
            self._asked[question] = self._before[question] if question in self._before else answer()
        found: T = self._asked[question]
        return found

    def finish(self) -> None:
        """Drop what was not asked for since this was called last."""
        self._before, self._asked = self._asked, {}


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
