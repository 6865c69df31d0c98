"""What each change means for runs in flight: the first kind of the shelf that it is of."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from stagec.change.comparison import kinds
from stagec.change.comparison.change import PlanChange
from stagec.change.comparison.compare import FlowChanges
from stagec.change.comparison.kind import ChangeKind
from stagec.change.comparison.pair import PlanPair
from stagec.change.comparison.situation import find_missing
from stagec.core.shelf import members
from stagec.core.value import value


@value
class JudgedChange:
    """A change, its kind, and what it means in a sentence."""

    change: PlanChange
    kind: ChangeKind
    sentence: str


@value
class JudgedFlow:
    """The changes of a flow, the worst first."""

    flow: str
    changes: tuple[JudgedChange, ...]


@cache
def list_kinds() -> tuple[ChangeKind, ...]:
    """Return every kind of change, by code."""
    return tuple(sorted(members(kinds, ChangeKind), key=lambda each: each.code))


def judge_flow(flow: FlowChanges) -> JudgedFlow:
    """Return what the changes of a flow mean for its runs in flight."""
    if flow.old is None or flow.new is None:  # the kinds of a whole flow look at no plan
        only = flow.old or flow.new
        return JudgedFlow(
            flow.flow, () if only is None else tuple(_judge(each, PlanPair(only, only)) for each in flow.changes)
        )
    return JudgedFlow(flow.flow, judge_changes(PlanPair(flow.old, flow.new), flow.changes))


def judge_changes(pair: PlanPair, changes: Iterable[PlanChange]) -> tuple[JudgedChange, ...]:
    """Return what changes mean, by grade and code, with what follows from all of them together."""
    found = [_judge(each, pair) for each in (*changes, *find_missing(pair))]
    return tuple(sorted(found, key=lambda each: each.kind.code))


def _judge(change: PlanChange, pair: PlanPair) -> JudgedChange:
    for kind in list_kinds():
        if change.action in kind.topics.get(change.topic, ()):
            more = kind.judge(change, pair)
            if more is not False:
                return JudgedChange(change, kind, kind.describe(change, more if isinstance(more, str) else ""))
    raise AssertionError(f"no kind of change has {change}")
