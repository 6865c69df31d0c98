"""Values that nodes of the new plan need of others, and that runs in flight may never have kept."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.comparison.change import Action, PlanChange
from stagec.comparison.pair import PlanPair
from stagec.plan.act import Carried, Prompt
from stagec.plan.document import Plan
from stagec.plan.gate import IntentGate
from stagec.plan.node import Go, Pick, list_begun, list_targets

Point = tuple[bool, str]
"""A node of the old plan, or of the new one."""


_HUB = "\0"
"""What the names of points begin with that stand between all nodes with the same choices and the nodes they name."""


def find_missing(pair: PlanPair) -> Iterator[PlanChange]:
    """Yield the values that a node may miss in a run in flight, and cannot miss in a run of the new plan."""
    ways = {each: dict(_list_ways(plan)) for each, plan in ((False, pair.old), (True, pair.new))}
    for wanted in dict.fromkeys(_list_wanted(pair.new)):
        node, supply = wanted
        # where a run in flight can come without the value
        reached = _walk(ways, _begin(pair.old, is_new=False), _keepers(pair, supply))
        if (True, node) not in reached or _always_replaced(pair.new, node):
            continue
        alone: dict[bool, dict[str, tuple[str, ...]]] = {False: {}, True: ways[True]}
        fresh = _walk(alone, _begin(pair.new, is_new=True), {(True, supply.node)} & _keepers(pair, supply))
        if (True, node) not in fresh or not _keeps(pair.old, supply):
            yield PlanChange("carried-record", Action.CHANGED, node, f"{supply.key} of {supply.node}")


def can_miss(pair: PlanPair, supply: Carried, node: str, *, begun: set[str], ahead: set[str]) -> bool:
    """Tell whether a run that continues with the new plan can reach a node before a value is kept.

    `begun` are the nodes that act, and those to which it may go back; `ahead` those that are yet to begin.
    """
    ways, keepers = dict(_list_ways(pair.new)), {(True, supply.node)} if _keeps(pair.new, supply) else set()
    onward = {each for name in begun if (True, name) not in keepers for each in ways.get(name, ())}
    found = _walk({False: {}, True: ways}, [(True, each) for each in sorted({*onward, *ahead})], keepers)
    return (True, node) in found


def _list_wanted(plan: Plan) -> Iterator[tuple[str, Carried]]:
    for name, node in plan.nodes.items():
        supplies = node.act.variables.values() if isinstance(node.act, Prompt) else ()
        yield from (
            (name, each) for each in supplies if isinstance(each, Carried) and each.required and each.default is None
        )


def _begin(plan: Plan, *, is_new: bool) -> list[Point]:
    return [(is_new, name) for entry in plan.entries.values() for name in list_begun(entry)]


def _keepers(pair: PlanPair, supply: Carried) -> set[Point]:
    return {(is_new, supply.node) for is_new, plan in ((False, pair.old), (True, pair.new)) if _keeps(plan, supply)}


def _keeps(plan: Plan, supply: Carried) -> bool:
    """Tell whether a node of a plan keeps a value for others."""
    gate = plan.nodes[supply.node].gate if supply.node in plan.nodes else None
    return isinstance(gate, IntentGate) and any(str(path[-1]) == supply.key for path in gate.handoff if path)


def _walk(ways: dict[bool, dict[str, tuple[str, ...]]], begun: list[Point], without: set[Point]) -> set[Point]:
    """Return the nodes to which ways lead that leave some out; a run may change to the new plan at every node."""
    found, todo = set(begun), list(begun)
    for is_new, name in todo:  # grows while it is walked
        onward = [] if (is_new, name) in without else [(is_new, each) for each in ways[is_new].get(name, ())]
        # what is at the node when the plan changes still answers, and keeps what the new plan keeps
        onward += [(True, name)] if not is_new and name in ways[True] and not name.startswith(_HUB) else []
        fresh = [each for each in dict.fromkeys(onward) if each not in found]
        found.update(fresh)
        todo.extend(fresh)
    return found


def _list_ways(plan: Plan) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, node in plan.nodes.items():
        targets = [edge.target for edge in node.edges]
        named = [each for target in targets for each in list_targets(target)]
        named += [f"{_HUB}{target.choices}" for target in targets if isinstance(target, Pick)]
        yield name, tuple(dict.fromkeys(named))
    yield from ((f"{_HUB}{name}", tuple(nodes.values())) for name, nodes in plan.choices.items())


def _always_replaced(plan: Plan, node: str) -> bool:
    """Tell whether something else runs wherever a node cannot start."""
    if any(node in list_begun(entry) for entry in plan.entries.values()):
        return False
    targets = [edge.target for each in plan.nodes.values() for edge in each.edges if node in list_targets(edge.target)]
    jumps = any(node in each.values() for each in plan.choices.values())
    return not jumps and all(isinstance(each, Go) and each.otherwise not in {None, node} for each in targets)
