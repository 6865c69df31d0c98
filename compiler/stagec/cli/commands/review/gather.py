"""What a reviewer has to know of two sides: what changes in each flow, what that breaks, costs, and gets wrong."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.cli.commands.review.costs import Costs, compare_costs
from stagec.cli.drawn_sides import DrawnChanges, FlowPair
from stagec.comparison.change import Action
from stagec.comparison.classify import JudgedChange, judge_flow
from stagec.comparison.flows import compare_flow
from stagec.comparison.kind import Grade
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.fingerprint import fingerprint
from stagec.core.value import value
from stagec.core.words import format_count
from stagec.graph.figures import Assumptions
from stagec.picture.document import Fate, Picture


@value
class ReviewedFlow:
    """A flow of two sides: what has become of it, its changes, what its runs take, and its drawing.

    `lacks` tells which sides have no plan, so that nothing can be compared, and is empty otherwise. It `is_stuck` when
    it had a plan, with which runs may have begun, and has none any more.
    """

    id: str
    action: Action | None
    changes: tuple[JudgedChange, ...]
    costs: Costs
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
        """The flows that differ, or of which that is not known: those that break first."""
        differing = (each for each in self.flows if each.action is not None)
        return tuple(sorted(differing, key=lambda each: (-each.count(Grade.BREAKING, self.allowed), not each.is_stuck)))

    @property
    def breaking(self) -> int:
        """How many changes break runs in flight and are not allowed."""
        return sum(each.count(Grade.BREAKING, self.allowed) for each in self.flows)

    @property
    def errors(self) -> int:
        """How many errors are new."""
        return count_severity(self.fresh, Severity.ERROR)

    @property
    def warnings(self) -> int:
        """How many warnings are new."""
        return count_severity(self.fresh, Severity.WARNING)

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
        if not told:
            unseen = sum(bool(each.lacks) for each in self.flows)
            if self.changed:
                told.append("nothing breaks runs in flight")
            elif unseen:
                told.append(f"no change is seen, and errors hide parts of {format_count(unseen, 'flow')}")
            else:
                told.append("no flow has changed")
            told.append("no new errors")
        told += [format_count(self.warnings, "new warning")] if self.warnings else []
        return ", ".join(told)


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
        costs = Costs() if new is None else compare_costs(None, new, given)
        return ReviewedFlow(pair.id, action, changes, costs, picture, lacks)
    if old is None or new is None:
        changed = None if picture.fate is Fate.SAME else Action.CHANGED
        return ReviewedFlow(pair.id, changed, (), Costs(), picture, lacks, is_stuck=old is not None)
    changes = judge_flow(compare_flow(pair.id, old, new)).changes
    costs = compare_costs(old, new, given)
    return ReviewedFlow(pair.id, Action.CHANGED if changes else None, changes, costs, picture)
