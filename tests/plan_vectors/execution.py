"""One execution of a node: where it stands, what it asks of the world, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from plan_vectors.scopes import Branch
from plan_vectors.tasks import Request, Task

Node = Mapping[str, Any]


class Arrival(NamedTuple):
    """How a node is come to: in which branch, handed what, and what is done when it cannot start."""

    branch: Branch
    node: str
    handed: tuple[Any, ...] = ()
    otherwise: str | None = None
    prompt: str | None = None
    """The prompt of a failed validation, in place of the node's own."""
    origin: str | None = None
    """The node whose edge has led here."""
    begins: bool = False
    """Whether this is the first execution of a branch of a fork."""


def due(name: str, milliseconds: int | None) -> Request | None:
    """Return the request that lets a deadline pass, which no attempt has made; nothing without a deadline."""
    return {"key": f"{name}/0.0", "is": "wait", "milliseconds": milliseconds} if milliseconds else None


class Execution:
    """An execution that has begun: its requests have keys made of its name, the attempt and a count in it."""

    def __init__(self, run: str, arrival: Arrival, node: Node, visit: int) -> None:
        self.run, self.arrival, self.node, self.visit = run, arrival, node, visit
        self.attempt = 1
        self.task: Task | None = None
        self.used: set[tuple[int, str, str, str]] = set()
        """The grants that calls have used: the attempt, the call, its tool and the digest of its arguments."""
        self.interrupted = False
        """Whether the runner has asked for the end of its process."""
        self.rests = False
        """Whether it is over, and waits before its edge is taken: then it has no place among those that act."""
        self.asides: list[Request] = []
        """What is asked beside what the task waits for."""
        self.deadline = due(self.id, node["act"].get("deadline"))
        self._asked = 0

    @property
    def name(self) -> str:
        return f"{self.arrival.node}#{self.visit}"

    @property
    def id(self) -> str:
        return f"{self.run}/{self.name}"

    def requests(self) -> Iterator[Request]:
        """Yield what it has asked and nobody has answered, in the order of its keys."""
        if self.deadline is not None:
            yield self.deadline
        waiting: Iterable[Request] = () if self.task is None else self.task.requests()
        if self.asides:
            waiting = sorted((*waiting, *self.asides), key=lambda each: int(each["key"].rpartition(".")[2]))
        yield from waiting

    def again(self) -> None:
        """Begin another attempt."""
        self.attempt, self._asked = self.attempt + 1, 0

    def ask(self, asked: str, /, **of: Any) -> Request:
        """Return a request with the next key; members that are None are left out."""
        told = {name: each for name, each in of.items() if each is not None}
        request = {"key": f"{self.id}/{self.attempt}.{self._asked}", "is": asked, **told}
        self._asked += 1
        return request


class Ended(NamedTuple):
    """What came of an execution: the outcome with its edge, or another execution, or the end of the run."""

    outcome: str = ""
    result: Mapping[str, Any] = {}
    record: Any = None
    edge: Mapping[str, Any] | None = None
    again: str | None = None
    """The prompt with which the node that led here is executed again."""
    stays: bool = False
    """Whether it is this node itself that is executed again."""
    failed: str | None = None
    """Why the run ends as failed."""
