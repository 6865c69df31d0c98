"""The shape of a kind of change: which changes it is about, and what it says of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum

from stagec.comparison.change import Action, PlanChange
from stagec.comparison.pair import PlanPair
from stagec.core.docstring import docstring
from stagec.core.json import Json
from stagec.core.value import value
from stagec.core.words import quote

_FILE_NAME = re.compile(r"chg(?P<number>\d{3})_(?P<name>[a-z0-9_]+)")


class Grade(StrEnum):
    """What a change means for runs in flight, the worst first."""

    BREAKING = "breaking"
    COMPATIBLE = "compatible"
    ADDITIVE = "additive"


_GRADES = {"1": Grade.BREAKING, "2": Grade.COMPATIBLE, "3": Grade.ADDITIVE}
"""The grade of a kind by the first digit of its code."""
Judge = Callable[[PlanChange, PlanPair], bool | str]
"""Tells whether a change is of a kind; a text says more about it."""


@value
class ChangeKind:
    """One kind of change, and everything that its page needs.

    `topics` are the changes that it may be about, with what has become of these. Of the kinds that a change may be of,
    the first counts whose `judge` accepts it, in the order of their codes. `sentence` names `{node}`, `{name}`,
    `{before}` and `{after}`.
    """

    code: str
    name: str
    grade: Grade
    topics: Mapping[str, frozenset[Action]]
    sentence: str
    explanation: str
    judge: Judge

    def describe(self, change: PlanChange, more: str = "") -> str:
        """Return the sentence about a change; `more` is what the judge has said besides."""
        shown = {"before": _show(change.before), "after": _show(change.after)}
        told = self.sentence.format(node=quote(change.node), name=quote(change.name), **shown)
        return f"{told}: {more}" if more else told


def _show(given: Json) -> str:
    return quote(given) if isinstance(given, str) else "none" if given is None else _WORDS.get(repr(given), str(given))


_WORDS = {"True": "true", "False": "false"}


def always(_change: PlanChange, _pair: PlanPair) -> bool:
    """Accept every change of a topic."""
    return True


def declare(module: str, sentence: str, judge: Judge = always, /, **topics: str) -> ChangeKind:
    """Return the kind that is named after a module, whose docstring is its page.

    A topic has `_` in place of `-`; its value are the actions that count.
    """
    match = _FILE_NAME.fullmatch(module.rpartition(".")[2])
    if match is None:
        raise ValueError(f"{module} is not called as a kind of change")
    named = {
        topic.replace("_", "-"): frozenset(Action(each) for each in actions.split())
        for topic, actions in topics.items()
    }
    number, name = match["number"], match["name"].replace("_", "-")
    page = docstring(sys.modules[module])
    return ChangeKind(f"CHG{number}", name, _GRADES[number[0]], named, sentence, page, judge)


def declare_judged(sentence: str, /, **topics: str) -> Callable[[Judge], ChangeKind]:
    """Declare the decorated judge as the kind that is named after its own module."""
    return lambda judge: declare(judge.__module__, sentence, judge, **topics)
