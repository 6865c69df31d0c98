"""The flows of two sides, matched by name, and how each differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stagec.comparison.change import Action, PlanChange
from stagec.comparison.compare import compare_plans
from stagec.core.value import value
from stagec.plan.document import Plan
from stagec.plan.loader import load_agents


@value
class FlowChanges:
    """A flow, its old and its new plan, None where a side has none, and what differs."""

    flow: str
    old: Plan | None
    new: Plan | None
    changes: tuple[PlanChange, ...] = ()

    @property
    def action(self) -> Action | None:
        """What has become of the flow, None when nothing has."""
        if self.old is None or self.new is None:
            return Action.ADDED if self.old is None else Action.REMOVED
        return Action.CHANGED if self.changes else None


def compare_flows(old: Iterable[Plan], new: Iterable[Plan]) -> tuple[FlowChanges, ...]:
    """Return the flows of two sides by name, those of one name in their order."""
    before, after = _group(old), _group(new)
    return tuple(each for name in sorted({*before, *after}) for each in _match(name, before, after))


def _group(plans: Iterable[Plan]) -> dict[str, list[Plan]]:
    found: dict[str, list[Plan]] = {}
    for plan in plans:
        found.setdefault(plan.id, []).append(plan)
    return found


def _match(name: str, old: dict[str, list[Plan]], new: dict[str, list[Plan]]) -> Iterator[FlowChanges]:
    before, after = old.get(name, []), new.get(name, [])
    for at in range(max(len(before), len(after))):
        one, other = _at(before, at), _at(after, at)
        yield compare_flow(name, one, other)
        if one is not None and other is not None:
            yield from _match_agents(name, one, other)


def _match_agents(name: str, old: Plan, new: Plan) -> Iterator[FlowChanges]:
    """Yield the flows of agents that two plans hold: their runs are inside those of the plan."""
    before, after = _list_agents(old), _list_agents(new)
    for agent in sorted({*before, *after}):
        yield compare_flow(f"{name}: {agent}", before.get(agent), after.get(agent))


def _list_agents(plan: Plan) -> dict[str, Plan]:
    return {name: loaded.plan for name, loaded in load_agents(plan).items()} if plan.plans else {}


def _at(plans: Sequence[Plan], at: int) -> Plan | None:
    return plans[at] if at < len(plans) else None


def compare_flow(name: str, old: Plan | None, new: Plan | None) -> FlowChanges:
    """Return how a flow differs that may be on one side only."""
    if old is None or new is None:
        change = PlanChange("flow", Action.ADDED if old is None else Action.REMOVED, name=name)
        return FlowChanges(name, old, new, (change,))
    return FlowChanges(name, old, new, compare_plans(old, new))
