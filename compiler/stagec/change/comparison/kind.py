"""Two plans side by side, what their schemas accept, and how a kind of change is declared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from functools import cached_property
from inspect import cleandoc

from stagec.change.comparison.change import Action, PlanChange
from stagec.core.json import Json, Object
from stagec.core.memo import Memo
from stagec.core.shelf import docstring
from stagec.core.value import value
from stagec.core.words import quote
from stagec.ir.plan.act import Process
from stagec.ir.plan.document import Plan
from stagec.ir.plan.facts import schema_in
from stagec.ir.plan.node import Node, Schedule, list_begun
from stagec.ir.plan.soundness import find_reached
from stagec.runtime.machine.answer_schemas import prepare
from stagec.sources.contract.inclusion import Inclusion, ValueJudge, find_inclusion


def compare_texts(old: str | None, new: str | None) -> Inclusion:
    """Return whether the new schema accepts all that the old one accepts; no schema accepts everything."""
    before, after = (schema_in("{}" if each is None else each)[0] for each in (old, new))
    return find_inclusion(before, after, _prepare)


def _prepare(schema: Object) -> ValueJudge | None:
    with suppress(ValueError, RecursionError):
        prepared = prepare(json.dumps(schema))
        return lambda given: prepared.complaint(given) is None
    return None


class PlanPair:
    """The plan that runs in flight were begun with, and the plan that they would go on with."""

    def __init__(self, old: Plan, new: Plan) -> None:
        self.old = old
        self.new = new
        self.memo = Memo()

    @cached_property
    def reached(self) -> frozenset[str]:
        """The nodes that runs of the old plan can come to."""
        return frozenset(find_reached(self.old))

    @cached_property
    def read_outputs(self) -> frozenset[tuple[str | None, Json]]:
        """The outputs that processes of the new plan read, each by the node that leaves it, and its path."""
        acts = (each.act for each in self.new.nodes.values())
        given = (each for act in acts if isinstance(act, Process) for each in act.inputs.values())
        return frozenset((each.node, each.path) for each in given)

    def is_reached(self, node: str | None) -> bool:
        """Tell whether a run of the old plan can come to a node."""
        return node in self.reached

    def nodes_of(self, node: str | None) -> tuple[Node, Node]:
        """Return a node as it is in the old plan and in the new one."""
        name = str(node)
        return self.old.nodes[name], self.new.nodes[name]

    def runs_processes(self, entry: str) -> bool:
        """Tell whether an entry begins a schedule of processes: such runs go on from what is published."""
        begun = self.old.entries.get(entry)
        nodes = list_begun(begun) if isinstance(begun, Schedule) else ()
        return any(isinstance(self.old.nodes[each].act, Process) for each in nodes)

    def compare_schemas(self, old: str | None, new: str | None) -> Inclusion:
        """Return whether the new of two contents accepts all that the old one accepts."""
        texts = (
            None if old is None else self.old.contents[old],
            None if new is None else self.new.contents[new],
        )
        return self.memo.once(texts, lambda: compare_texts(*texts))

    def is_widened(self, old: str | None, new: str | None) -> bool:
        """Tell whether a schema accepts all that the other does, and something besides as far as is known."""
        before = None if old is None else self.old.contents[old]
        after = None if new is None else self.new.contents[new]
        turned = (after, before)
        return self.memo.once(turned, lambda: compare_texts(*turned)).holds is not True


_LONGEST = 200
"""Characters of a value that shows a difference."""


def is_lowered(before: Json, after: Json) -> bool:
    """Tell whether a bound is lower than it was; nothing is no bound."""
    if not isinstance(after, int):
        return False
    return not isinstance(before, int) or after < before


def text_in_change(given: Json) -> str | None:
    """Return the name of a content that a change has as a value."""
    return given if isinstance(given, str) else None


def is_narrowed(change: PlanChange, pair: PlanPair) -> bool | str:
    """Tell whether a schema refuses what it accepted: such a value."""
    found = pair.compare_schemas(text_in_change(change.before), text_in_change(change.after))
    if found.holds is not False:
        return False
    shown = json.dumps(found.witness, ensure_ascii=False)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"


def is_undecided(change: PlanChange, pair: PlanPair) -> bool:
    """Tell whether it is not known if a schema accepts all that it accepted."""
    return pair.compare_schemas(text_in_change(change.before), text_in_change(change.after)).holds is None


def is_digest(change: PlanChange, pair: PlanPair) -> bool:
    """Tell whether only the digest of a tool's schema is known, on either side."""
    tools = (each.tools[change.name] for each in (pair.old, pair.new))
    return any(each.schema is None and each.digest is not None for each in tools)


_NAME = re.compile(r"chg(?P<number>\d{3})_(?P<name>[a-z0-9_]+)")


class Grade(StrEnum):
    """The effect of a change on runs in flight, the worst first."""

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
        """Return the sentence about a change; `more` is what the judge adds."""
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
