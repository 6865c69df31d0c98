"""The cost of runs from one entry on, and the assumptions behind it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from stagec.core.value import value
from stagec.ir.graph.schedule_bounds import ScheduleBounds
from stagec.ir.graph.usage import Assumed, AssumedUse, ChooseModel, NamedModel, Quantity
from stagec.ir.plan.codec import words


class Joint(StrEnum):
    """The relation of nodes that run together on a path."""

    OPEN = "("
    NEXT = "|"
    CLOSE = ")"


Way = tuple[str | Joint, ...]


@value
class Weight:
    """The cost of a run, and one path with that cost; without a path only the limit counts."""

    total: int
    way: Way = ()


SHOWN = 1_000
"""Parts of a way that are kept; forks inside forks double them."""


class Ending(StrEnum):
    """The required end of a branch: done, ready for a join, or any."""

    DONE = "done"
    JOINABLE = "joinable"
    ANY = "any"


Part = tuple[str, Ending, bool]
"""A node, what is asked of the branch from it on, and whether a fork leads to it.

The branch of a fork ends with its first node, unless that fails: then the edges of its failure are followed.
"""
FAIL = "fail"
"""The outcome of a node that has failed; no other outcome leads on from the first node of a branch."""


@value
class UpperBound:
    """The most of something that a run takes, without and with retries; None where nothing bounds it."""

    first: int | None
    most: int | None


@value
class Unlimited:
    """An unlimited quantity, and its nodes."""

    what: Annotated[
        str,
        "The unlimited quantity: time of a model, a person, a hook or a judge; calls in a response; responses of a"
        " step; tokens read or written; or no model is named, its price is unknown, or an agent has no bound.",
        words(
            "model",
            "person",
            "hook",
            "judge",
            "calls",
            "responses",
            "input",
            "output",
            "model-name",
            "price",
            "agent",
        ),
    ]
    nodes: Annotated[tuple[str, ...], "The nodes."]


@value
class Figure:
    """The amount of one thing in runs: at most and at least, a path with each, and the unlimited parts.

    Ways are empty where the limit of executions is all that is known. `least` is None where no run is completed.
    """

    upper: UpperBound
    least: int | None = None
    longest: Way = ()
    shortest: Way = ()
    lacks: tuple[Unlimited, ...] = ()


@value
class EntryBounds:
    """The bounds of runs from one entry.

    The time that has a limit is all of it if `unlimited` is empty. `is_cut` tells that runs could be longer if the plan
    had no limit of executions. An entry that is a `schedule` has no `node`.
    """

    entry: str
    node: str | None
    figures: Mapping[Quantity, Figure]
    cycles: tuple[tuple[str, ...], ...]
    is_cut: bool
    schedule: ScheduleBounds | None = None

    @property
    def executions(self) -> UpperBound:
        """How many executions of nodes a run has at most."""
        return self.figures[Quantity.EXECUTIONS].upper

    @property
    def turns(self) -> UpperBound:
        """How many turns of models a run has at most."""
        return self.figures[Quantity.TURNS].upper

    @property
    def milliseconds(self) -> UpperBound:
        """How long everything takes at most that has a limit."""
        return self.figures[Quantity.MILLISECONDS].upper

    @property
    def unlimited(self) -> tuple[Unlimited, ...]:
        """The parts that may take any time."""
        return self.figures[Quantity.MILLISECONDS].lacks

    @property
    def time(self) -> UpperBound:
        """How long a run takes; None where something in it may take any time."""
        return UpperBound(None, None) if self.unlimited else self.milliseconds

    @property
    def never_completes(self) -> bool:
        """Whether no run is completed."""
        return self.figures[Quantity.EXECUTIONS].least is None

    @property
    def longest(self) -> Way:
        """The way with most executions."""
        return self.figures[Quantity.EXECUTIONS].longest

    @property
    def slowest(self) -> Way:
        """A way that takes the time."""
        return self.figures[Quantity.MILLISECONDS].longest


def choose_nobody(_node: str, _wish: str | None) -> NamedModel:
    """Return that nobody says which model answers."""
    return NamedModel()


@value
class Assumptions:
    """The assumptions of bounds about times, requests to models, and the models that answer."""

    times: Assumed = Assumed()
    use: AssumedUse = AssumedUse()
    choose: ChooseModel = choose_nobody
