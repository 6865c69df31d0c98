"""How much the runs of a flow take at most, before and after a change."""

from __future__ import annotations

from itertools import product
from math import inf

from stagec.cli.figures import COMPARED, NAMES, find_most, format_amount, round_dollars
from stagec.core.value import value
from stagec.graph.bounds import bound
from stagec.graph.figures import Assumptions, EntryBounds, Unlimited
from stagec.graph.usage import Quantity
from stagec.plan import Plan


@value
class MovedBound:
    """How much runs from an entry take at most of something, before and after; None where nothing bounds it.

    It `is_new` when the flow was not there before.
    """

    entry: str
    measure: Quantity
    before: int | None
    after: int | None
    is_new: bool = False

    @property
    def is_raised(self) -> bool:
        """Whether runs may take more than they could."""
        return not self.is_new and _weigh(self.after) > _weigh(self.before)

    @property
    def now(self) -> str:
        """Return `12 steps`, `$1.20`, `no bound of turns`."""
        if self.after is None:
            return f"no bound of {NAMES[self.measure]}"
        has_unit = self.measure in {Quantity.COST, Quantity.MILLISECONDS}
        return _show(self.measure, self.after) + ("" if has_unit else f" {NAMES[self.measure]}")

    @property
    def was(self) -> str:
        """Return ` (was 20)`, and nothing where nothing was there."""
        return "" if self.is_new else f" (was {_show(self.measure, self.before)})"

    def describe(self) -> str:
        """Return `12 steps (was 20)`."""
        return f"{self.now}{self.was}"


def _show(measure: Quantity, given: int | None) -> str:
    if given is None:
        return "no bound"
    return f"${round_dollars(given, up=True)}" if measure is Quantity.COST else format_amount(measure, given)


def _weigh(amount: int | None) -> float:
    return inf if amount is None else amount


_TOKENS = (Quantity.INPUT, Quantity.OUTPUT)
_ORDER = (Quantity.COST, Quantity.MILLISECONDS, Quantity.EXECUTIONS, Quantity.TURNS, Quantity.CALLS, *_TOKENS)
"""What is counted, in the order in which people ask for it."""


@value
class Costs:
    """What has moved of a flow's bounds, and what they are now, entry by entry."""

    moved: tuple[MovedBound, ...] = ()
    now: tuple[EntryBounds, ...] = ()

    @property
    def dearest(self) -> str:
        """How much money a run costs at most, `$1.20`; empty where that is not known or nothing."""
        amounts = [each.figures[Quantity.COST].upper.most for each in self.now]
        most = max(map(_weigh, amounts), default=0)
        return "" if most in {0, inf} else _show(Quantity.COST, int(most))

    @property
    def lacks(self) -> tuple[Unlimited, ...]:
        """Why it is not known how much money a run costs."""
        return tuple(lack for each in self.now for lack in each.figures[Quantity.COST].lacks)

    def select_worst(self) -> tuple[MovedBound, ...]:
        """Return of each thing that has moved the entry that takes most: money first, tokens only without money."""
        found: list[MovedBound] = []
        for measure in _ORDER:
            some = [each for each in self.moved if each.measure is measure]
            if some and not (measure in _TOKENS and found and found[0].measure is Quantity.COST):
                found.append(max(some, key=lambda each: (_weigh(each.after), _weigh(each.before))))
        return tuple(found)


def compare_costs(old: Plan | None, new: Plan, given: Assumptions) -> Costs:
    """Return what runs from the same entry take at most, where that differs, and everything of a new flow."""
    now = bound(new, given).entries
    before = {} if old is None else {each.entry: each for each in bound(old, given).entries}
    moved: list[MovedBound] = []
    for entry, measure in product(now, COMPARED):
        after = find_most(measure, entry.figures[measure])
        known = before.get(entry.entry)
        was = None if known is None else find_most(measure, known.figures[measure])
        if (known is None and old is None and after) or (known is not None and was != after):
            moved.append(MovedBound(entry.entry, measure, was, after, is_new=known is None))
    return Costs(tuple(moved), now)
