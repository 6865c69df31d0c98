"""A deadline that passes in place of an answer: what a scripted world raises, and the event that drivers make of it."""

from __future__ import annotations

from collections.abc import Container

from stagec.core.failure import Failure
from stagec.core.words import quote
from stagec.runtime.machine.exchange import Answered, deadline_key, execution_of, run_deadline_key, run_of


class PassedDeadlineError(Exception):
    """The deadline passes of an execution that has made a request, or that of its run; nobody answers the request."""

    def __init__(self, key: str, *, of_run: bool) -> None:
        super().__init__(key)
        self._asked = key
        self._key = run_deadline_key(run_of(key)) if of_run else deadline_key(execution_of(key))

    def find_event(self, pending: Container[str]) -> Answered:
        """Return what has happened; raise `Failure` where no such deadline is among the open requests."""
        if self._key not in pending:
            raise Failure(f"the scenario lets a deadline pass in {quote(self._asked)}, and there is none")
        return Answered(self._key, {})
