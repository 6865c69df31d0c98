"""What is proved of every run of a plan, from the plan alone."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.components import components, repeats
from stagec.core.value import value
from stagec.plan.act import Converse, Prompt
from stagec.plan.agents import read_turns
from stagec.plan.document import Facts, Plan
from stagec.plan.node import Chain, Fork, Node, Outcome, Pick, Schedule, Stop, Target, list_begun, list_targets


@value
class _Hub:
    """A point between all targets that have choices in common and the nodes that these name."""

    choices: str


Ids = tuple[str, ...]
Points = tuple[str | _Hub, ...]
_MOST = 10**15
"""Larger numbers count as this one; forks inside forks double them."""
_ASKED = 2
"""How often a model is asked in one execution of a prompt: once more when its first answer cannot be used."""


def facts(plan: Plan) -> Facts:
    """Return what is proved of every run of a plan; `Facts` says what each number means. Linear, and a sort."""
    order, cycles = _components(plan)
    executions = min(plan.limits.executions or _MOST, _longest(plan, order, cycles))
    return Facts(
        done=_ending(plan, Outcome.DONE),
        failed=_ending(plan, Outcome.FAILED),
        cycles=cycles,
        executions=executions,
        turns=_count_turns(plan, executions),
        interrupted=_ending(plan, Outcome.INTERRUPTED),
        blocked=_ending(plan, Outcome.BLOCKED),
    )


def cycles(plan: Plan) -> tuple[Ids, ...]:
    """Return the largest sets of nodes that lead back into themselves, sorted."""
    return _components(plan)[1]


def _components(plan: Plan) -> tuple[Points, tuple[Ids, ...]]:
    """Return nodes and hubs, each after all it leads to but for those of its own cycle, and the cycles of nodes."""
    names: Points = (*plan.nodes, *map(_Hub, plan.choices))
    index = {name: at for at, name in enumerate(names)}
    ahead = (dict.fromkeys(name for edge in node.edges for name in _ahead(edge.target)) for node in plan.nodes.values())
    leads = [[index[each] for each in some] for some in ahead]
    leads += [[index[each] for each in dict.fromkeys(nodes.values())] for nodes in plan.choices.values()]
    found = tuple(components(leads))
    order: Points = tuple(names[each] for component in found for each in component)
    repeating = (component for component in found if repeats(leads, component))
    cycles = (tuple(sorted(each for at in component if isinstance(each := names[at], str))) for component in repeating)
    return order, tuple(sorted(cycles))


def _ahead(target: Target) -> Points:
    return (_Hub(target.choices),) if type(target) is Pick else list_targets(target)


def _ending(plan: Plan, outcome: Outcome) -> Ids:
    stops = ((name, edge.target) for name, node in plan.nodes.items() for edge in node.edges)
    return tuple(sorted({name for name, target in stops if type(target) is Stop and target.outcome is outcome}))


def _count_turns(plan: Plan, executions: int) -> int:
    """Return the most turns of models of a run with so many executions; each but the last transition runs an agent."""
    if plan.phases is not None:
        runs = min(executions, plan.phases.most)
        return min(_MOST, runs * max(map(read_turns, map(plan.contents.__getitem__, plan.plans.values())), default=0))
    return min(_MOST, executions * max(map(_turns, plan.nodes.values()), default=0))


def _turns(node: Node) -> int:
    """Return the most turns of models in one execution of a node."""
    if isinstance(node.act, Converse):
        return node.act.turns * (node.retry.attempts if node.retry is not None else 1)
    return _ASKED if isinstance(node.act, Prompt) else 0


def _longest(plan: Plan, order: Points, cycles: tuple[Ids, ...]) -> int:
    """Return the most executions of a run from any entry."""
    repeating = {name for each in cycles for name in each}
    for each, node in plan.nodes.items():
        if node.validation is not None and node.validation.action == "retry":
            repeating.add(each)  # its failure may lead back to the node before, which no edge says
    found: dict[str | _Hub, int] = {}
    for name in order:
        if isinstance(name, _Hub):
            found[name] = max(found.get(each, _MOST) for each in plan.choices[name.choices].values())
            continue
        ways = [] if name in repeating else [_executions(edge.target, found) for edge in plan.nodes[name].edges]
        found[name] = _MOST if name in repeating else min(_MOST, 1 + max(ways, default=0))
    begun = (sum(found[name] for name in list_begun(entry)) for entry in plan.entries.values())
    return min(_MOST, max(begun, default=0))


def _executions(target: Target, found: Mapping[str | _Hub, int]) -> int:
    """Return the most executions that follow when a target is taken."""
    known = [found[name] for name in _ahead(target)]
    return sum(known) if isinstance(target, Fork | Chain | Schedule) else max(known, default=0)
