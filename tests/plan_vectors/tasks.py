"""Requests to the world and what waits for their answers: generators that yield requests, alone or several at once."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

Request = dict[str, Any]
Answer = dict[str, Any]


class Together(tuple["Steps", ...]):
    """Several tasks that wait for the world at the same time; whoever yields them gets what each of them returns."""

    __slots__ = ()


Steps = Generator[Request | Together, Any, Any]


class Task:
    """One generator that is under way, and what it waits for: an answer, or tasks of its own."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._inner: tuple[Task, ...] = ()
        self.request: Request | None = None
        self.ended = False
        self.returned: Any = None
        self._go_on(None)

    def requests(self) -> Iterator[Request]:
        """Yield what is asked of the world and not answered, in the order in which it was begun."""
        if self.request is not None:
            yield self.request
        for task in self._inner:
            yield from task.requests()

    def answer(self, request: Request, answer: Answer) -> None:
        """Hand the answer to a request to whoever waits for it."""
        if self.request is request:
            self._go_on(answer)
            return
        for task in self._inner:
            if not task.ended and any(each is request for each in task.requests()):
                task.answer(request, answer)
        if all(task.ended for task in self._inner):
            self._go_on([task.returned for task in self._inner])

    def _go_on(self, sent: Any) -> None:
        self.request, self._inner = None, ()
        try:
            yielded = self._steps.send(sent)
            while isinstance(yielded, Together) and all(task.ended for task in self._begun(yielded)):
                yielded = self._steps.send([task.returned for task in self._inner])
        except StopIteration as stop:
            self._inner, self.ended, self.returned = (), True, stop.value
        else:
            if not isinstance(yielded, Together):
                self._inner, self.request = (), yielded

    def _begun(self, together: Sequence[Steps]) -> tuple[Task, ...]:
        self._inner = tuple(Task(steps) for steps in together)
        return self._inner
