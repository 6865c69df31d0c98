"""Two plans side by side, and what is asked about them more than once."""

from __future__ import annotations

import json
from functools import cached_property

from stagec.change.comparison.change import PlanChange
from stagec.change.comparison.inclusion import Inclusion, find_inclusion
from stagec.core.json import Json
from stagec.core.memo import Memo
from stagec.ir.plan.act import Process
from stagec.ir.plan.document import Plan
from stagec.ir.plan.node import Node, Schedule, list_begun
from stagec.ir.plan.references import find_reached


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
        return self.memo.once(texts, lambda: find_inclusion(*texts))

    def is_widened(self, old: str | None, new: str | None) -> bool:
        """Tell whether a schema accepts all that the other does, and something besides as far as is known."""
        before = None if old is None else self.old.contents[old]
        after = None if new is None else self.new.contents[new]
        turned = (after, before)
        return self.memo.once(turned, lambda: find_inclusion(*turned)).holds is not True


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
