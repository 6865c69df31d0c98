"""What a reviewer has to know of two sides: what changes in each flow, what that breaks, costs, and gets wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from stagec.cli.drawn_sides import DrawnChanges, FlowPair
from stagec.cli.figures import NAMES, find_most, round_dollars
from stagec.cli.wording import format_duration
from stagec.comparison.change import Action
from stagec.comparison.classify import JudgedChange, judge_flow
from stagec.comparison.flows import compare_flow
from stagec.comparison.kind import Grade
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.fingerprint import fingerprint
from stagec.core.value import value
from stagec.core.words import format_count
from stagec.graph.bounds import bound
from stagec.graph.figures import Assumptions
from stagec.graph.usage import Quantity
from stagec.picture.document import Fate, Picture
from stagec.plan import Plan


@value
class MovedBound:
    """How much runs from an entry take at most of something, before and after; None where nothing bounds it."""

    entry: str
    measure: Quantity
    before: int | None
    after: int | None

    @property
    def is_raised(self) -> bool:
        """Whether runs may take more than they could."""
        return self.before is not None and (self.after is None or self.after > self.before)

    def describe(self) -> str:
        """Return `12 steps (was 20)`."""
        return f"{self._show(self.after)} (was {self._show(self.before, bare=True)})"

    def _show(self, given: int | None, *, bare: bool = False) -> str:
        if given is None:
            return "no bound" if bare else f"no bound of {NAMES[self.measure]}"
        if self.measure is Quantity.COST:
            return f"${round_dollars(given, up=True)}"
        if self.measure is Quantity.MILLISECONDS:
            return format_duration(given)
        return f"{given:,}" if bare else f"{given:,} {NAMES[self.measure]}"


@value
class ReviewedFlow:
    """A flow of two sides: what has become of it, its changes, its bounds that move, and its drawing.

    `lacks` tells which sides have no plan, so that nothing can be compared, and is empty otherwise. It `is_stuck` when
    it had a plan, with which runs may have begun, and has none any more.
    """

    id: str
    action: Action | None
    changes: tuple[JudgedChange, ...]
    moved: tuple[MovedBound, ...]
    picture: Picture
    lacks: tuple[str, ...] = ()
    is_stuck: bool = False

    def count(self, grade: Grade, allowed: frozenset[str]) -> int:
        """Return how many changes are of a grade and not allowed."""
        return sum(each.kind.grade is grade and each.kind.code not in allowed for each in self.changes)


@value
class Review:
    """Everything about two sides; of findings those that are new, those that are gone, and those that both have.

    `branch` is what the newer side went off at the older one, empty where nobody asked for that.
    """

    old: str
    new: str
    flows: tuple[ReviewedFlow, ...]
    fresh: tuple[Diagnostic, ...]
    gone: tuple[Diagnostic, ...]
    kept: tuple[Diagnostic, ...]
    allowed: frozenset[str]
    branch: str = ""

    @property
    def changed(self) -> tuple[ReviewedFlow, ...]:
        """The flows that differ, or of which that is not known."""
        return tuple(each for each in self.flows if each.action is not None)

    @property
    def breaking(self) -> int:
        """How many changes break runs in flight and are not allowed."""
        return sum(each.count(Grade.BREAKING, self.allowed) for each in self.flows)

    @property
    def errors(self) -> int:
        """How many errors are new."""
        return count_severity(self.fresh, Severity.ERROR)

    @property
    def stuck(self) -> int:
        """How many flows had a plan, with which runs may have begun, and have none any more."""
        return sum(each.is_stuck for each in self.flows)

    @property
    def is_bad(self) -> bool:
        """Whether something breaks or may break, or an error is new."""
        return bool(self.breaking or self.errors or self.stuck)

    @property
    def verdict(self) -> str:
        """What counts, in one line."""
        broken = f"{format_count(self.breaking, 'change')} {'breaks' if self.breaking == 1 else 'break'} runs in flight"
        told = [broken] if self.breaking else []
        told += [format_count(self.errors, "new error")] if self.errors else []
        hidden = f"errors hide what {format_count(self.stuck, 'flow')} {'breaks' if self.stuck == 1 else 'break'}"
        told += [hidden] if self.stuck and not self.errors else []
        if told:
            return ", ".join(told)
        if self.changed:
            return "nothing breaks runs in flight, no new errors"
        unseen = sum(bool(each.lacks) for each in self.flows)
        if unseen:
            return f"no change is seen, and errors hide parts of {format_count(unseen, 'flow')}, no new errors"
        return "no flow has changed, no new errors"


def count_severity(found: Iterable[Diagnostic], severity: Severity) -> int:
    """Return how many diagnostics are of a severity."""
    return sum(each.severity is severity for each in found)


def gather(drawn: DrawnChanges, allowed: frozenset[str], given: Assumptions) -> Review:
    """Return what there is to say of two sides; figures about what runs take rest on what is assumed."""
    flows = tuple(
        _review(pair, picture, drawn, given) for pair, picture in zip(drawn.pairs, drawn.pictures, strict=True)
    )
    known = [{key: each for each, key in fingerprint(side.diagnostics)} for side in (drawn.old, drawn.new)]
    fresh, gone = (tuple(some[key] for key in some if key not in other) for some, other in (known[::-1], known))
    kept = tuple(known[1][key] for key in known[1] if key in known[0])
    return Review(drawn.old.label, drawn.new.label, flows, _rank(fresh), _rank(gone), _rank(kept), allowed)


def _rank(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(found, key=lambda each: -each.severity.weight))


def _review(pair: FlowPair, picture: Picture, drawn: DrawnChanges, given: Assumptions) -> ReviewedFlow:
    old, new = (None if each is None else each.plan for each in (pair.old, pair.new))
    sides = ((pair.old, drawn.old.label), (pair.new, drawn.new.label))
    lacks = tuple(label for side, label in sides if side is not None and side.plan is None)
    if pair.old is None or pair.new is None:
        action = Action.ADDED if pair.old is None else Action.REMOVED
        changes = judge_flow(compare_flow(pair.id, old, new)).changes if old or new else ()
        return ReviewedFlow(pair.id, action, changes, (), picture, lacks)
    if old is None or new is None:
        changed = None if picture.fate is Fate.SAME else Action.CHANGED
        return ReviewedFlow(pair.id, changed, (), (), picture, lacks, is_stuck=old is not None)
    changes = judge_flow(compare_flow(pair.id, old, new)).changes
    moved = tuple(_compare_bounds(old, new, given))
    return ReviewedFlow(pair.id, Action.CHANGED if changes else None, changes, moved, picture)


def _compare_bounds(old: Plan, new: Plan, given: Assumptions) -> Iterator[MovedBound]:
    """Yield what runs from the same entry take at most, where that differs."""
    before, after = ({each.entry: each for each in bound(plan, given).entries} for plan in (old, new))
    for name, measure in product((name for name in before if name in after), NAMES):
        one, other = (find_most(measure, each[name].figures[measure]) for each in (before, after))
        if one != other:
            yield MovedBound(name, measure, one, other)
