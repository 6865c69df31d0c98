"""The facts that stagec proves of the runs of a flow, and their cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from stagec.core.budgets import Budgets
from stagec.core.expansion import PatternTally, explain_size, extent, overweight, patterns_in, weigh
from stagec.core.json import Json, Object
from stagec.core.place import Pointer
from stagec.core.precedence import components, repeats
from stagec.core.value import value
from stagec.ir.plan.act import Converse, Prompt
from stagec.ir.plan.agents import read_turns
from stagec.ir.plan.document import Facts, Plan
from stagec.ir.plan.node import (
    Chain,
    ForEach,
    Fork,
    Node,
    Outcome,
    Pick,
    Schedule,
    Stop,
    Target,
    list_begun,
    list_targets,
)


def list_schemas(plan: Plan) -> Iterator[str]:
    """Yield the contents of a plan that are schemas, some of them more than once."""
    acts = [node.act for node in plan.nodes.values()]
    asked = [act.schema for act in acts if isinstance(act, Prompt | Converse)]
    handed = [act.accepts for act in acts if isinstance(act, Converse)]
    given = [each.schema for each in plan.inputs.values()]
    yield from (each for each in (*asked, *handed, *given) if each is not None)


_DEEPEST = 256
"""Objects and arrays inside each other in one schema; what libraries do with them recurses."""
_LIMITS = Budgets()


def unaffordable(plan: Plan) -> Iterator[tuple[Pointer, str]]:
    """Yield every place of a plan whose schema or pattern cannot be used within the budgets, with the reason.

    A schema that is no JSON, or no object, is among them. Linear in what is written; nothing is compiled.
    """
    tally = PatternTally(_LIMITS)
    for content in dict.fromkeys(list_schemas(plan)):
        text = plan.contents[content]
        schema, reason = schema_in(text)
        if not reason and not _is_plain(text):
            reason = overweight(weigh(schema), schema) or explain_size(patterns_in(schema), tally)
        if reason:
            yield ("contents", content), reason
    for name, validator in plan.validators.items():
        matched = [validator.success.argument] if validator.success.kind == "matches" else []
        if reason := explain_size(matched, tally):
            yield ("validators", name, "success", "argument"), reason


_COSTLY = ('"$ref"', '"$dynamicRef"', '"$recursiveRef"', '"unevaluated', '"pattern', "\\u")
"""Marks of references, repeated judgements and patterns: a schema without them is cheap; an escape may hide them."""


def _is_plain(text: str) -> bool:
    """Tell whether a schema has no patterns, and can cost no more than what is written in it.

    Then each of its schemas judges a place of a value at most once, and none lists more than two things a character.
    """
    return 2 * len(text) <= _LIMITS.expansion and not any(each in text for each in _COSTLY)


def schema_in(text: str) -> tuple[Object, str]:
    """Return the schema in a text, `true` and `false` as objects, and an empty text; or why it is no schema."""
    try:
        given: Json = json.loads(text)
    except (ValueError, RecursionError):
        return {}, "is used as a schema, and is not readable JSON"
    if isinstance(given, bool):
        return ({} if given else {"not": {}}), ""
    if not isinstance(given, dict):
        return {}, "is used as a schema, and is not an object"
    if text.count("{") + text.count("[") > _DEEPEST and extent(given, len(text)).depth > _DEEPEST:
        return {}, f"is used as a schema, and is nested more than {_DEEPEST} levels deep"
    return given, ""


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
    """Return the facts that are proved of every run of a plan; `Facts` explains each number. Linear, and a sort."""
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
    if isinstance(target, ForEach):
        return target.most * sum(known[: len(target.nodes)]) + sum(known[len(target.nodes) :])
    return sum(known) if isinstance(target, Fork | Chain | Schedule) else max(known, default=0)
