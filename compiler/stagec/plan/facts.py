"""What is proved of every run of a plan, from the plan alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stagec.core.components import components, repeats
from stagec.plan.act import Act, Converse, Prompt
from stagec.plan.document import Facts, Plan
from stagec.plan.node import Chain, Fork, Node, Outcome, Stop, Target
from stagec.plan.references import led

_MOST = 10**15
"""Larger numbers are not told apart; forks inside forks double them."""


def facts(plan: Plan) -> Facts:
    """Return what is proved of every run of a plan; `Facts` says what each number means. Linear, and a sort."""
    names = tuple(plan.nodes)
    index = {name: at for at, name in enumerate(names)}
    leads = [[index[each] for each in _leads(node)] for node in plan.nodes.values()]
    order = tuple(components(leads))
    cycles = [tuple(sorted(names[each] for each in found)) for found in order if repeats(leads, found)]
    bound = plan.limits.executions or _MOST
    executions = min(bound, _longest(plan, [[names[each] for each in found] for found in order], cycles))
    return Facts(
        done=_ending(plan, Outcome.DONE),
        failed=_ending(plan, Outcome.FAILED),
        cycles=tuple(sorted(cycles)),
        executions=executions,
        turns=min(_MOST, executions * max(map(_turns, plan.nodes.values()), default=0)),
    )


def _leads(node: Node) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for edge in node.edges for name in led(edge.target)))


def _ending(plan: Plan, outcome: Outcome) -> tuple[str, ...]:
    end = Stop(outcome)
    return tuple(sorted(name for name, node in plan.nodes.items() if any(edge.target == end for edge in node.edges)))


def _turns(node: Node) -> int:
    return _turns_of(node.act) * (node.retry.attempts if node.retry is not None else 1)


def _turns_of(act: Act) -> int:
    return act.turns if isinstance(act, Converse) else int(isinstance(act, Prompt))


def _longest(plan: Plan, order: Sequence[Sequence[str]], cycles: Sequence[Sequence[str]]) -> int:
    """Return the most executions of a run from any entry; `order` has what is led to before what leads there."""
    repeating = {name for each in cycles for name in each}
    found: dict[str, int] = {}
    for name in (each for component in order for each in component):
        ways = [] if name in repeating else [_executions(edge.target, found) for edge in plan.nodes[name].edges]
        found[name] = _MOST if name in repeating else min(_MOST, 1 + max(ways, default=0))
    return max((found[name] for name in plan.entries.values()), default=0)


def _executions(target: Target, found: Mapping[str, int]) -> int:
    """Return the most executions that follow when a target is taken."""
    known = [found[name] for name in led(target)]
    return sum(known) if isinstance(target, Fork | Chain) else max(known, default=0)
