"""Two plans side by side, and what is asked about them more than once."""

from __future__ import annotations

from functools import cached_property

from stagec.comparison.inclusion import Inclusion, find_inclusion
from stagec.core.memo import Memo
from stagec.plan.act import Process
from stagec.plan.document import Plan
from stagec.plan.node import Node, Schedule, list_begun
from stagec.plan.references import find_reached


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
