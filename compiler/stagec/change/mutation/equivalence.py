"""Mutants that behave as the plan in every run, as far as that can be decided, each with the reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

from stagec.change.comparison.kind import compare_texts
from stagec.change.mutation.mutant import SCHEMAS, Mutant
from stagec.core.canonical import compact
from stagec.core.json import MISSING, Json, list_of, object_of
from stagec.core.precedence import order_names
from stagec.core.value import replace, value
from stagec.ir.graph.schedule_bounds import measure_width
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Converse, Prompt, Provided
from stagec.ir.plan.codec import Path
from stagec.ir.plan.facts import facts
from stagec.ir.plan.gate import Among, IntentGate, JudgeGate, Reads, Term, Validation, VerdictGate
from stagec.ir.plan.node import (
    Chain,
    Edge,
    ForEach,
    Fork,
    Named,
    Node,
    Outcome,
    Pick,
    Schedule,
    Stop,
    list_begun,
    list_targets,
)
from stagec.ir.plan.soundness import find_reached
from stagec.runtime.machine.gate import ABORT
from stagec.runtime.machine.program import choose

_HEADS: dict[type, str] = {Converse: "parsed", Prompt: "answer"}
"""Under which name the results of acts have the answer."""
_OPAQUE = frozenset({"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "not", "dependentSchemas"})
"""Keywords of schemas that are not looked into."""
_MOST = 4_000
"""Results that are tried at most; of more, nothing is said."""
_FRESH = "a text that no condition names"


def _count_branches(target: Fork | ForEach) -> int:
    """Return how many branches of a target can be under way together."""
    if isinstance(target, Fork):
        return len(target.nodes)
    return min(target.most, target.concurrency or target.most)


@value
class Domain:
    """The possible values at a path: all of them, None if unknown, and whether the member may be absent."""

    values: tuple[Json, ...] | None
    is_optional: bool


def list_values(plan: Plan, name: str, path: Path) -> tuple[Json, ...]:
    """Return all values that a result of a node can have at a path; nothing where they are not known."""
    return find_domain(plan, name, path).values or ()


def find_domain(plan: Plan, name: str, path: Path) -> Domain:
    """Return the possible values at a path of those results of a node that lead somewhere."""
    node = plan.nodes[name]
    content = node.act.schema if isinstance(node.act, Converse | Prompt) else None
    is_changed = bool(node.hooks or node.admission) or plan.session is not None
    if content is None or is_changed or not path[1:] or path[0] != _HEADS[type(node.act)]:
        return Domain(None, is_optional=True)
    schema, is_optional = json.loads(plan.contents[content]), False
    for key in path[1:]:
        part = object_of(schema)
        inner = object_of(part.get("properties"))
        if not isinstance(key, str) or not _OPAQUE.isdisjoint(part) or key not in inner or part.get("type") != "object":
            return Domain(None, is_optional=True)
        is_optional |= key not in list_of(part.get("required"))
        schema = inner[key]
    return Domain(_list_constants(schema), is_optional)


def _list_constants(schema: Json) -> tuple[Json, ...] | None:
    part = object_of(schema)
    if not _OPAQUE.isdisjoint(part):
        return None
    if "const" in part:
        return (part["const"],)
    if isinstance(part.get("enum"), list):
        return tuple(list_of(part["enum"]))
    return (True, False) if part.get("type") == "boolean" else None


def lead_alike(plan: Plan, name: str, others: tuple[Edge, ...]) -> bool:
    """Tell whether other edges of a node lead wherever its own do, after every result that it can have."""
    old = tuple(_resolve(plan, each) for each in plan.nodes[name].edges)
    new = tuple(_resolve(plan, each) for each in others)
    if _is_collected(plan, name):
        old, new = (tuple(_end_alike(each) for each in edges) for edges in (old, new))
    return all(
        _lead_alike(plan, name, [each for each in old if each.on == on], [each for each in new if each.on == on])
        for on in _list_outcomes(plan, name, (*old, *new))
    )


def _resolve(plan: Plan, edge: Edge) -> Edge:
    return replace(edge, target=Named(plan.choices[edge.target.choices])) if isinstance(edge.target, Pick) else edge


def _is_collected(plan: Plan, name: str) -> bool:
    """Tell whether a node runs only for elements whose join sees them, however they end."""
    targets = [edge.target for node in plan.nodes.values() for edge in node.edges]
    leading = [each for each in targets if name in list_targets(each)]
    alone = all(isinstance(each, ForEach) and each.collect and each.nodes == (name,) for each in leading)
    return alone and name in find_branches(plan)


def _end_alike(edge: Edge) -> Edge:
    return replace(edge, target=Stop(Outcome.DONE)) if isinstance(edge.target, Stop) else edge


def _list_outcomes(plan: Plan, name: str, edges: Iterable[Edge]) -> list[str]:
    """Return the outcomes of edges that results of a node can have and that are followed."""
    gate = plan.nodes[name].gate
    found = [*dict.fromkeys(each.on for each in edges)]
    if isinstance(gate, IntentGate):
        found = [each for each in found if each in gate.intents or each == ABORT]
    return [each for each in found if each == "fail"] if name in find_branches(plan) else found


def find_branches(plan: Plan) -> frozenset[str]:
    """Return the nodes that runs come to only as branches of forks, which end with them unless they fail."""
    branches, others = set(), {each for entry in plan.entries.values() for each in list_begun(entry)}
    others |= {each for nodes in plan.choices.values() for each in nodes.values()}
    for node in plan.nodes.values():
        for edge in node.edges:
            if isinstance(edge.target, Fork | ForEach):
                branches |= {*edge.target.nodes}
                others |= {edge.target.join or ""}
            else:
                others |= {*list_targets(edge.target)}
        if node.validation is not None:
            others |= {*plan.nodes}  # a refusal leads back
    return frozenset(branches - others)


def _lead_alike(plan: Plan, name: str, old: list[Edge], new: list[Edge]) -> bool:
    terms = [term for each in (*old, *new) for term in each.when]
    options = {path: _list_options(plan, name, path, terms) for path in dict.fromkeys(term.path for term in terms)}
    names = [None, *dict.fromkeys(key for each in (*old, *new) for key in _list_named(each))]
    if any(each is None for each in options.values()) or _overlap([*options]) or () in options:
        return False
    listed = [each or [] for each in options.values()]
    if prod(map(len, listed)) * len(names) > _MOST:
        return False
    for chosen in product(*listed):
        result: dict[str, Any] = {}
        for path, each in zip(options, chosen, strict=True):
            if each is not MISSING:
                _put(result, path, each)
        if any(choose(old, result, named) != choose(new, result, named) for named in names):
            return False
    return True


def _put(result: dict[str, Any], path: Path, given: Json) -> None:
    """Put a value at a path of an object, and what leads there."""
    *before, last = map(str, path)
    for key in before:
        result = result.setdefault(key, {})
    result[last] = given


def _list_named(edge: Edge) -> Iterator[str]:
    yield from edge.target.nodes if isinstance(edge.target, Named) else ()


def _list_options(plan: Plan, name: str, path: Path, terms: list[Term]) -> list[Json] | None:
    """Return one value of each kind that conditions tell apart at a path; None where they cannot be told."""
    domain = find_domain(plan, name, path)
    absent: list[Json] = [MISSING] if domain.is_optional else []
    if domain.values is not None:
        return [*domain.values, *absent]
    mine = [each for each in terms if each.path == path]
    if any(isinstance(each, Reads) for each in mine) and any(isinstance(each, Among) for each in mine):
        return None
    constants: list[Json] = [one for each in mine if isinstance(each, Among) for one in each.values]
    texts: list[Json] = [one for each in mine if isinstance(each, Reads) for one in each.texts]
    return [*constants, *texts, _FRESH, *absent]


def _overlap(paths: list[Path]) -> bool:
    """Tell whether one path leads into what another one leads to."""
    return any(one != other and other[: len(one)] == one for one in paths for other in paths)


_OF_LIMITS = ("max_iterations", "remaining")
_OF_JUDGES = ("completion_keyword", "max_checks", "verdict_criteria")
"""The variables of the runner that follow from the limits of a run, and from how it is judged."""
_ONE_WAIT = 2
"""Attempts between which there is one wait."""
_GUARDED = frozenset({"closing", "verdict", "repeat", "abort"})
"""The outcomes for which it makes no difference whether validators guard every one."""


class Equivalence:
    """Knows of a plan what its runs can do, and tells of mutants why they can do nothing else."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._bare = replace(plan, facts=None)
        self._checks: tuple[Callable[[str, Plan], str | None], ...] = (
            self._compare_routes,
            self._compare_schemas,
            self._compare_attempts,
            self._compare_validations,
        )

    def explain(self, mutant: Mutant, changed: Plan) -> str | None:
        """Return why no run of a mutant differs from a run of the plan; None if one may differ."""
        if changed == self._bare:
            return "the plan is the same"
        if mutant.node is not None and mutant.node not in self._reached:
            return "no run reaches this node"
        if mutant.node is not None and len(mutant.nodes) == 1 and not mutant.fields.keys() - {"contents"}:
            return next((why for each in self._checks if (why := each(mutant.node, changed))), None)
        whole = (self._compare_limits, self._compare_inputs, self._compare_judges)
        return next((why for each in whole if (why := each(changed))), self._compare_needs(mutant, changed))

    @cached_property
    def _reached(self) -> frozenset[str]:
        return frozenset(find_reached(self._plan))

    @cached_property
    def _longest(self) -> int:
        """The most executions of a run that nothing limits."""
        return facts(replace(self._plan, limits=replace(self._plan.limits, executions=None))).executions

    @cached_property
    def _provided(self) -> frozenset[str]:
        """The variables of the runner that are read anywhere."""
        system = self._plan.system.variables.values() if self._plan.system is not None else ()
        acts = [node.act for node in self._plan.nodes.values() if isinstance(node.act, Prompt)]
        asked = [each.variables for each in acts]
        asked += [repeat.variables for each in acts for repeat in each.repeats or ()]
        supplies = (*system, *(supply for each in asked for supply in each.values()))
        return frozenset(each.name for each in supplies if isinstance(each, Provided))

    @cached_property
    def _width(self) -> int | None:
        """How many nodes can be under way together, None where that is not known."""
        targets = [edge.target for name in self._reached for edge in self._plan.nodes[name].edges]
        forks = [each for each in targets if isinstance(each, Fork | Chain | ForEach | Schedule)]
        schedules = [each for each in self._plan.entries.values() if isinstance(each, Schedule)]
        if not forks and not schedules:
            return 1
        if not forks and len(schedules) == len(self._plan.entries) == 1:
            width = measure_width(order_names(schedules[0].needs))
            return len(width.nodes) if width.is_exact else None
        if not schedules and len(forks) == 1 and isinstance(forks[0], Fork | ForEach):
            ends = (edge.target for name in forks[0].nodes for edge in self._plan.nodes[name].edges)
            return _count_branches(forks[0]) if all(isinstance(each, Stop) for each in ends) else None
        return None

    def _compare_routes(self, name: str, changed: Plan) -> str | None:
        old, new = self._plan.nodes[name], changed.nodes[name]
        is_all = replace(old, edges=new.edges) == new
        return "every result leads to the same node" if is_all and lead_alike(self._plan, name, new.edges) else None

    def _compare_schemas(self, name: str, changed: Plan) -> str | None:
        node = self._plan.nodes[name]
        old, new = node.act, changed.nodes[name].act
        for member in SCHEMAS:
            one, other = getattr(old, member, None), getattr(new, member, None)
            if one == other or one is None or other is None:
                continue
            if replace(node, act=replace(old, **{member: other})) != changed.nodes[name]:
                continue
            texts = (_of_objects(self._plan.contents[one]), _of_objects(changed.contents[other]))
            if _is_same(*texts):
                return "both schemas accept the same values"
            handed = [*self._list_handed(name)] if member == "accepts" else [None]
            if None not in handed and all(compare_texts(each, text).holds for each in handed for text in texts):
                return "every node before hands over what both schemas accept"
        return None

    def _list_handed(self, name: str) -> Iterator[str | None]:
        """Yield the schema of the results of each node that leads to a node; None where it is not known."""
        entries = self._plan.entries.values()
        if any(not isinstance(each, str) or each == name for each in entries) or self._plan.choices:
            yield None
        for each in self._plan.nodes.values():
            leading = [edge for edge in each.edges if name in list_targets(edge.target)]
            is_plain = not each.hooks and each.admission is None and all(edge.on == "ok" for edge in leading)
            is_joined = any(
                isinstance(edge.target, ForEach) or (isinstance(edge.target, Fork) and edge.target.join == name)
                for edge in leading
            )
            if leading and isinstance(each.act, Converse) and is_plain and not is_joined:
                parsed = json.loads(self._plan.contents[each.act.schema])
                yield compact({"type": "object", "required": ["parsed"], "properties": {"parsed": parsed}})
            elif leading:
                yield None

    def _compare_attempts(self, name: str, changed: Plan) -> str | None:
        old, new = self._plan.nodes[name], changed.nodes[name]
        if replace(old, retry=new.retry) != new or old.retry is None:
            return None
        if _is_never_retried(old):
            return "no result of this node is tried again"
        is_short = max(each.attempts for each in (old.retry, new.retry) if each is not None) <= _ONE_WAIT
        if new.retry is not None and is_short and old.retry.attempts == new.retry.attempts:
            waits = {each.backoff.milliseconds if each.backoff.kind != "none" else 0 for each in (old.retry, new.retry)}
            return "there is one wait at most, and it is as long" if len(waits) == 1 else None
        return None

    def _compare_validations(self, name: str, changed: Plan) -> str | None:
        old, new = self._plan.nodes[name], changed.nodes[name]
        one, other = old.validation, new.validation
        if not isinstance(one, Validation) or not isinstance(other, Validation):
            return None
        is_all = replace(one, every_outcome=other.every_outcome) == other and replace(old, validation=other) == new
        if is_all and isinstance(old.gate, IntentGate) and _GUARDED.issuperset(old.gate.intents):
            return "the node has no other outcome that would be guarded"
        return None

    def _compare_limits(self, changed: Plan) -> str | None:
        old, new = self._plan.limits, changed.limits
        if replace(self._bare, limits=new) != changed:
            return None
        if replace(old, parallel=new.parallel) == new:
            is_wide = self._width is not None and min(old.parallel, new.parallel) >= self._width
            return "there is room for all nodes that can run together" if is_wide else None
        if not self._provided.isdisjoint(_OF_LIMITS):
            return None
        bounds = (old.executions or 0, new.executions or 0)
        is_unreached = 0 not in bounds and self._longest <= min(bounds)
        return "no run has so many executions" if is_unreached else None

    def _compare_judges(self, changed: Plan) -> str | None:
        is_all = replace(self._bare, judge=changed.judge) == changed
        is_asked = any(isinstance(self._plan.nodes[each].gate, JudgeGate) for each in self._reached)
        return "no node asks the judge" if is_all and not is_asked and self._provided.isdisjoint(_OF_JUDGES) else None

    def _compare_inputs(self, changed: Plan) -> str | None:
        if replace(self._bare, inputs=changed.inputs, contents=changed.contents) != changed:
            return None
        for name, old in self._plan.inputs.items():
            new = changed.inputs[name]
            if old.schema != new.schema and old.schema is not None and new.schema is not None:
                is_same = _is_same(self._plan.contents[old.schema], changed.contents[new.schema])
                return "both schemas accept the same values" if is_same else None
            if old != new and replace(old, required=new.required) == new and old.default is not None:
                return "the default is there whether it is required or not"
        return None

    def _compare_needs(self, mutant: Mutant, changed: Plan) -> str | None:
        for entry, old in self._plan.entries.items():
            new = changed.entries.get(entry)
            if isinstance(old, Schedule) and isinstance(new, Schedule) and old != new and not mutant.nodes:
                return "other needs imply it" if _close(old) == _close(new) else None
        return None


def _of_objects(text: str) -> str:
    """Return a schema of answers and results that says what goes without saying: these are objects."""
    schema = json.loads(text)
    return text if "type" in schema else compact({**schema, "type": "object"})


def _is_same(one: str, other: str) -> bool:
    return bool(compare_texts(one, other).holds and compare_texts(other, one).holds)


def _is_never_retried(node: Node) -> bool:
    """Tell whether no judgement of a conversation is that it has to be tried again."""
    gate = node.gate
    if not isinstance(gate, VerdictGate) or "assert" in node.hooks or node.admission is not None:
        return False
    capped = (Among(("capHit",), (True,)),)
    catches = any(each.when == capped and each.verdict != "retry" for each in gate.checks)
    return catches and all(each.verdict != "retry" for each in gate.checks)


def _close(schedule: Schedule) -> dict[str, frozenset[str]]:
    """Return all that each node of a schedule waits for, directly or not."""
    names = [*schedule.needs]
    precedence = order_names(schedule.needs)
    found: dict[str, frozenset[str]] = {}
    for at in precedence.order:
        needs = [names[each] for each in precedence.needs[at]]
        found[names[at]] = frozenset(needs).union(*(found[each] for each in needs))
    return found
