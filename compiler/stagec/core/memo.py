"""Answers that several callers ask for at the price of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

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
