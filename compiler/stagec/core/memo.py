"""Values that are computed once, when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from stagec.core.value import value

T = TypeVar("T")


class Memo:
    """Answers about one thing, such as a pipeline or the schemas of a project."""

    def __init__(self) -> None:
        self._known: dict[object, Any] = {}

    def once(self, question: object, answer: Callable[[], T]) -> T:
        """Return the answer to a question, worked out the first time it is asked."""
        if question not in self._known:
            self._known[question] = answer()
        found: T = self._known[question]
        return found

    def find(self, question: object) -> object | None:
        """Return the answer to a question if it has been worked out."""
        return self._known.get(question)

    def put(self, question: object, answer: object) -> None:
        """Remember an answer."""
        self._known[question] = answer


class OutwornError(Exception):
    """A check ran out of work, part of which was counted because an earlier check had done it."""


@value
class Worked(Generic[T]):
    """An answer, how much work of a budget it took, and the check that did the work.

    One that does not last is of use in its own check only.
    """

    answer: T
    work: int
    check: int
    lasts: bool = True


class KeptAnswers:
    """Answers that follow from their questions alone, kept from one check to the next, also of another project.

    An answer that two whole checks in a row do not ask for is dropped: one of them may have found the project broken.
    """

    def __init__(self) -> None:
        self._asked: dict[object, Any] = {}
        self._before: dict[object, Any] = {}
        self._long_before: dict[object, Any] = {}
        self._carries_work = True
        self._is_checking = False
        self.check = 0

    def once(self, question: object, answer: Callable[[], T]) -> T:
        """Return the answer to a question, which says everything that the answer depends on."""
        if question not in self._asked:
            ages = (age for age in (self._before, self._long_before) if question in age)
            age = next(ages, None)
            self._asked[question] = answer() if age is None else age[question]
        found: T = self._asked[question]
        return found

    def put(self, question: object, answer: object) -> None:
        """Replace an answer that no longer holds."""
        self._asked[question] = answer

    @property
    def carries_work(self) -> bool:
        """Whether a check has begun that may use work of earlier checks for which there is a budget."""
        return self._is_checking and self._carries_work

    def begin(self) -> None:
        """Begin a check; what is of no use to it is dropped."""
        self.check += 1
        self._is_checking = True
        self._asked, self._before = self._select(self._asked), self._select(self._before)
        self._long_before = self._select(self._long_before)

    def finish(self) -> None:
        """End a whole check; what neither it nor the last one asked for is dropped."""
        self._long_before, self._before, self._asked = self._before, self._asked, {}
        self._is_checking = False

    def is_under_way(self, check: int) -> bool:
        """Tell whether a check has begun and not ended; what an editor asks afterwards is none."""
        return self._is_checking and check == self.check

    def forget_work(self) -> None:
        """Let each check do its work itself from now on, as far as there is a budget for it."""
        self._carries_work = False

    def _select(self, answers: dict[object, Any]) -> dict[object, Any]:
        """Return the answers of earlier checks that are of use to the next one."""
        return {
            question: each
            for question, each in answers.items()
            if not isinstance(each, Worked) or (each.lasts and self._carries_work)
        }


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
