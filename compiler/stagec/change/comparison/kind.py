"""The shape of a kind of change: which changes it is about, and what it says of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from inspect import cleandoc

from stagec.change.comparison.change import Action, PlanChange
from stagec.change.comparison.pair import PlanPair
from stagec.core.json import Json
from stagec.core.shelf import docstring
from stagec.core.value import value
from stagec.core.words import quote

_NAME = re.compile(r"chg(?P<number>\d{3})_(?P<name>[a-z0-9_]+)")


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


def declare(sentence: str, /, **topics: str) -> Callable[[Judge], ChangeKind]:
    """Declare the decorated judge as the kind that has its name, and its docstring as the page of the kind.

    A topic has `_` in place of `-`; its value are the actions that count.
    """

    def declare_judge(judge: Judge) -> ChangeKind:
        return _declare(judge.__name__, docstring(judge), sentence, topics, judge)

    return declare_judge


def declare_every(sentence: str, /, **topics: str) -> Callable[[Callable[[], None]], ChangeKind]:
    """Declare the kind to which every change of its topics belongs; the function has its name and its page."""

    def declare_page(page: Callable[[], None]) -> ChangeKind:
        return _declare(page.__name__, docstring(page), sentence, topics, lambda _change, _pair: True)

    return declare_page


def _declare(function: str, page: str, sentence: str, topics: Mapping[str, str], judge: Judge) -> ChangeKind:
    match = _NAME.fullmatch(function)
    if match is None:
        raise ValueError(f"{function} is not called as a kind of change")
    number, name = match["number"], match["name"].replace("_", "-")
    named = {
        topic.replace("_", "-"): frozenset(Action(each) for each in actions.split())
        for topic, actions in topics.items()
    }
    return ChangeKind(f"CHG{number}", name, _GRADES[number[0]], named, sentence, cleandoc(page), judge)
