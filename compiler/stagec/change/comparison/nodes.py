"""Differences of one node in two plans: its gate, its edges, and the checks before and after its act."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, zip_longest
from typing import Any, TypeGuard

from stagec.change.comparison.change import Action, PlanChange
from stagec.change.comparison.kind import PlanPair, compare_texts
from stagec.change.comparison.texts import (
    compare_contracts,
    compare_tables,
    compare_templates,
    compare_values,
    compare_variables,
    flatten,
    text_of,
)
from stagec.core.json import Json, object_of, text_in
from stagec.core.value import TAG, replace
from stagec.ir.plan.act import Act, Command, Converse, Delegate, Process, Prompt
from stagec.ir.plan.codec import write, write_all
from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import AgentGate, Gate, IntentGate, RestGate, Validation, VerdictGate
from stagec.ir.plan.node import Edge, ForEach, Go, Named, Node, Pick, Schedule, Target

Plans = tuple[Plan, Plan]


def compare_acts(old: Act, new: Act, plans: Plans) -> Iterator[PlanChange]:
    """Yield the differences of two acts; of acts of two kinds, that they are."""
    if type(old) is not type(new):
        yield PlanChange("act", Action.CHANGED, before=name_act(old), after=name_act(new))
    elif isinstance(old, Prompt):
        yield from _compare_prompts(old, new, plans)
    elif isinstance(old, Converse):
        yield from _compare_conversations(old, new, plans)
    elif isinstance(old, Command):
        yield from _compare_commands(old, new, plans)
    elif isinstance(old, Process):
        yield from _compare_processes(old, new)
    elif isinstance(old, Delegate):
        yield from _compare_agents(old, new, plans)


def name_act(act: Act) -> str:
    """Return the name of an act in the format."""
    return text_in(object_of(write(act)), TAG) or ""


def _compare_prompts(old: Prompt, new: Any, plans: Plans) -> Iterator[PlanChange]:
    contents = (plans[0].contents, plans[1].contents)
    yield from compare_templates("prompt", old.prompt, new.prompt, contents=contents)
    yield from compare_values("builtin", old.builtin, new.builtin)
    yield from compare_variables("variable", old.variables, new.variables)
    yield from compare_tables("needed", dict.fromkeys(old.needed, True), dict.fromkeys(new.needed, True))
    yield from _compare_schemas("schema", (old.schema, new.schema), plans)
    if old.tools is None or new.tools is None:
        shown: list[Json] = [None if each.tools is None else list(each.tools) for each in (old, new)]
        yield from compare_values("tool-choice", *shown)
    else:
        yield from compare_tables("node-tool", dict.fromkeys(old.tools, True), dict.fromkeys(new.tools, True))
    repeats = (object_of(write(each)).get("repeats") for each in (old, new))
    yield from compare_values("repeats", *repeats)
    yield from _compare_asking(old, new)
    yield from compare_values("permission", old.permission, new.permission)


def _compare_conversations(old: Converse, new: Any, plans: Plans) -> Iterator[PlanChange]:
    contents = (plans[0].contents, plans[1].contents)
    yield from compare_templates("prompt", old.prompt, new.prompt, contents=contents)
    yield from compare_tables("node-tool", dict.fromkeys(old.tools, True), dict.fromkeys(new.tools, True))
    yield from compare_values("completion", old.completion, new.completion)
    yield from _compare_schemas("schema", (old.schema, new.schema), plans)
    yield from _compare_schemas("accepts", (old.accepts, new.accepts), plans)
    yield from compare_values("turns", old.turns, new.turns)
    yield from compare_values("deadline", old.deadline or None, new.deadline or None)
    yield from _compare_asking(old, new)


def _compare_asking(old: Prompt | Converse, new: Any) -> Iterator[PlanChange]:
    """Yield the differences of the model and of its policy."""
    yield from compare_values("model", old.model, new.model)
    yield from compare_tables(
        "policy", *({} if each is None else object_of(write(each)) for each in (old.policy, new.policy))
    )


def _compare_schemas(topic: str, names: tuple[str | None, str | None], plans: Plans) -> Iterator[PlanChange]:
    yield from compare_contracts(topic, names, (text_of(plans[0], names[0]), text_of(plans[1], names[1])))


def _compare_commands(old: Command, new: Any, plans: Plans) -> Iterator[PlanChange]:
    pairs = zip_longest(old.words, new.words, fillvalue=())
    flat = [(flatten(one, plans[0].contents), flatten(other, plans[1].contents)) for one, other in pairs]
    if any(one != other for one, other in flat):
        shown: list[Json] = ["".join(text for _, text in parts) for both in flat for parts in both]
        yield from compare_values("program", shown[: 2 * len(old.words) : 2], shown[1 : 2 * len(new.words) : 2])
    yield from compare_values("time-limit", old.milliseconds, new.milliseconds)


def _compare_processes(old: Process, new: Any) -> Iterator[PlanChange]:
    before, after = (object_of(write(each)) for each in (old, new))
    yield from compare_values("prompt", old.goal, new.goal)
    yield from compare_values("program", list(old.words), list(new.words))
    for member, topic in (("inputs", "process-input"), ("outputs", "output")):
        yield from compare_tables(topic, object_of(before.get(member)), object_of(after.get(member)))
    yield from compare_values("retryable", old.retryable, new.retryable)
    yield from compare_values("checkpoint", old.checkpoint, new.checkpoint)
    yield from compare_values("time-limit", before["limits"], after["limits"])


def _compare_agents(old: Delegate, new: Any, plans: Plans) -> Iterator[PlanChange]:
    contents = (plans[0].contents, plans[1].contents)
    yield from compare_values("agent", old.agent, new.agent)
    for outcome in sorted({*old.comments, *new.comments}):
        texts = (each.comments.get(outcome) for each in (old, new))
        yield from compare_templates("comment", *texts, contents=contents, name=outcome)
    closes: list[Json] = [{"closes": each.closes, "condition": each.condition} for each in (old, new)]
    yield from compare_values("closing", *closes)


def compare_node(name: str, old: Plan, new: Plan) -> Iterator[PlanChange]:
    """Yield the differences of a node that both plans have."""
    before, after = old.nodes[name], new.nodes[name]
    admissions = (None if each.admission is None else write(each.admission) for each in (before, after))
    found = chain(
        compare_values("node-title", before.title, after.title),
        compare_values("node-kind", before.kind, after.kind),
        compare_acts(before.act, after.act, (old, new)),
        _compare_gates(before, after),
        _compare_edges(_resolve_edges(old, new, before), _resolve_edges(new, old, after)),
        _compare_retries(before, after),
        compare_values("admission", *admissions),
        _compare_validations(before, after, (old, new)),
        compare_tables("hook", before.hooks, after.hooks),
    )
    yield from (replace(each, node=name) for each in found)


def resolve_edge(plan: Plan, edge: Edge) -> Edge:
    """Return an edge; in place of the choices that targets share stand the nodes that these name."""
    return replace(edge, target=Named(plan.choices[edge.target.choices])) if isinstance(edge.target, Pick) else edge


def _resolve_edges(plan: Plan, other: Plan, node: Node) -> tuple[Edge, ...]:
    """Return the edges of a node; choices that the other plan has as well stay as they are, for they may be large."""
    return tuple(
        resolve_edge(plan, each) if isinstance(each.target, Pick) and each.target.choices not in other.choices else each
        for each in node.edges
    )


def _compare_gates(old: Node, new: Node) -> Iterator[PlanChange]:
    before, after = old.gate, new.gate
    if type(before) is not type(after):
        yield PlanChange("gate", Action.CHANGED, before=type(before).__name__, after=type(after).__name__)
    elif isinstance(before, IntentGate) and isinstance(after, IntentGate):
        yield from compare_tables("intent", dict.fromkeys(before.intents, True), dict.fromkeys(after.intents, True))
        yield from compare_values("intent-field", list(before.field), list(after.field))
        yield from compare_values("fail-fast", before.fail_fast, after.fail_fast)
        yield from compare_values("fallback", before.fallback, after.fallback)
        targets = (None if each.target is None else list(each.target) for each in (before, after))
        yield from compare_values("target-field", *targets)
        # what is kept for other nodes, by the name under which it is kept
        kept = ({str(path[-1]): list(path) for path in each.handoff if path} for each in (before, after))
        yield from compare_tables("handoff", *kept)
    elif isinstance(before, AgentGate | RestGate):
        yield from compare_values("agent-outcomes", write(before), write(after))
    elif isinstance(before, VerdictGate):
        yield from compare_values("checks", *(object_of(write(each)).get("checks") for each in (before, after)))


def _compare_edges(old: tuple[Edge, ...], new: tuple[Edge, ...]) -> Iterator[PlanChange]:
    """Yield edges that are gone or new, and those that lead elsewhere: an edge is known by its outcome and terms."""
    before, after = (dict(_number(edges)) for edges in (old, new))
    for key in dict.fromkeys((*before, *after)):
        one, other = before.get(key), after.get(key)
        if one is not None and other is not None:
            yield from compare_values("edge-wait", one.wait or None, other.wait or None, name=key[0])
            if one.target == other.target:
                continue
        if one is not None and other is not None and _run_alike(one.target, other.target):
            yield from _compare_elements(key[0], one.target, other.target)
            continue
        shown: list[Json] = [None if each is None else show_edge(each) for each in (one, other)]
        yield from compare_values("edge", *shown, name=key[0])
    kept = [[key for key in edges if key in before and key in after] for edges in (before, after)]
    for outcome in dict.fromkeys(edge.on for edge in old):
        orders = [[key for key in keys if key[0] == outcome] for keys in kept]
        if orders[0] != orders[1]:
            yield PlanChange("edge-order", Action.CHANGED, name=outcome)


def _run_alike(old: Target, new: Target) -> TypeGuard[ForEach]:
    """Tell whether two targets run the same nodes for the elements of the same list, and then the same join."""
    if not (isinstance(old, ForEach) and isinstance(new, ForEach)):
        return False
    return (old.list, old.nodes, old.join) == (new.list, new.nodes, new.join)


def _compare_elements(outcome: str, old: Target, new: Target) -> Iterator[PlanChange]:
    """Yield the differences in running nodes for the elements of a list."""
    for topic, member in (("most", "most"), ("together", "concurrency"), ("collect", "collect")):
        yield from compare_values(f"elements-{topic}", getattr(old, member), getattr(new, member), name=outcome)


_Key = tuple[str, str, int]


def _number(edges: tuple[Edge, ...]) -> Iterator[tuple[_Key, Edge]]:
    """Yield edges with what they are known by: outcome, terms, and which one of those with the same it is."""
    seen: dict[tuple[str, str], int] = {}
    for edge in edges:
        key = (edge.on, repr(write_all(edge.when)))
        seen[key] = seen.get(key, -1) + 1
        yield (*key, seen[key]), edge


def show_edge(edge: Edge) -> Json:
    """Return an edge as JSON; the format of plans says what it means."""
    return {
        "on": edge.on,
        "target": write(edge.target),
        **({"when": write_all(edge.when)} if edge.when else {}),
        **({"wait": edge.wait} if edge.wait else {}),
    }


def _compare_retries(old: Node, new: Node) -> Iterator[PlanChange]:
    attempts = [1 if each.retry is None else each.retry.attempts for each in (old, new)]
    yield from compare_values("attempts", *attempts)
    waits: list[Json] = [
        {"kind": each.retry.backoff.kind, "milliseconds": each.retry.backoff.milliseconds}
        if each.retry is not None and each.retry.backoff.kind != "none"
        else None
        for each in (old, new)
    ]
    yield from compare_values("backoff", *waits)


def _compare_validations(old: Node, new: Node, plans: tuple[Plan, Plan]) -> Iterator[PlanChange]:
    before, after = old.validation, new.validation
    if before is None or after is None:
        shown: list[Json] = [None if each is None else _list_conditions(each) for each in (before, after)]
        yield from compare_values("validation", *shown)
        return
    yield from compare_values("conditions", *map(_list_conditions, (before, after)))
    yield from compare_values("preflight", *map(_list_preflight, (before, after)))
    yield from compare_values("every-outcome", before.every_outcome, after.every_outcome)
    yield from compare_values("validation-action", before.action, after.action)
    yield from compare_values("validation-attempts", before.attempts, after.attempts)
    contents = (plans[0].contents, plans[1].contents)
    for pattern in sorted({*before.prompts, *after.prompts}):
        prompts = (each.prompts.get(pattern) for each in (before, after))
        yield from compare_templates("retry-prompt", *prompts, contents=contents, name=pattern)


def _list_conditions(validation: Validation) -> Json:
    return object_of(write(validation)).get("conditions", [])


def _list_preflight(validation: Validation) -> Json:
    return object_of(write(validation)).get("preflight", [])


def find_edge(change: PlanChange, pair: PlanPair) -> Edge:
    """Return the old edge that a change is about."""
    shown: Any = change.before
    edges = pair.memo.once(
        ("old edges", change.node), lambda: _group(pair.old, change, lambda each: repr(write_all(each.when)))
    )
    alike = edges[str(change.name), repr(shown.get("when", []))]
    return next(each for each in alike if _is_shown(each, shown, pair.old))


def _group(plan: Plan, change: PlanChange, key: Callable[[Edge], str]) -> Mapping[tuple[str, str], list[Edge]]:
    """Return the edges of the node of a change by outcome and key, of which few have the same."""
    found: dict[tuple[str, str], list[Edge]] = {}
    for each in plan.nodes[str(change.node)].edges:
        found.setdefault((each.on, key(each)), []).append(resolve_edge(plan, each))
    return found


def _is_shown(edge: Edge, shown: Any, plan: Plan) -> bool:
    """Tell whether a change shows an edge, whose choices may stand in it by name."""
    if shown["target"]["is"] == "pick":
        named = plan.choices[shown["target"]["choices"]]
        has_terms = write_all(edge.when) == shown.get("when", [])
        return isinstance(edge.target, Named) and edge.target.nodes is named and has_terms
    return bool(show_edge(edge) == shown)


def is_covered(change: PlanChange, pair: PlanPair) -> bool:
    """Tell whether whatever takes the old edge of a change certainly takes an edge of the new plan."""
    edge = find_edge(change, pair)
    edges = pair.memo.once(
        ("new edges", change.node),
        lambda: _group(pair.new, change, lambda each: repr(each.when[0]) if each.when else ""),
    )
    # an edge covers none that lacks its first term
    firsts = ("", *map(repr, edge.when))
    return any(_covers(each, edge) for first in firsts for each in edges.get((edge.on, first), ()))


def _covers(new: Edge, old: Edge) -> bool:
    if any(term not in old.when for term in new.when):
        return False
    if not isinstance(new.target, Named):
        return True
    return isinstance(old.target, Named) and old.target.nodes.keys() <= new.target.nodes.keys()


def has_intent(change: PlanChange, pair: PlanPair) -> bool:
    """Tell whether the gate still has the intent of an edge; a gate of another kind yields what its edges say."""
    before, after = (each.gate for each in pair.nodes_of(change.node))
    if not (isinstance(before, IntentGate) and isinstance(after, IntentGate)):
        return True
    return change.name in after.intents or change.name not in before.intents


def falls_back(gate: Gate) -> bool:
    """Tell whether an answer without an allowed intent has another intent instead."""
    return isinstance(gate, IntentGate) and not gate.fail_fast


def leads_to_schedule(change: PlanChange, pair: PlanPair) -> bool:
    """Tell whether the old edge of a change opens a schedule, in which a run may be."""
    return isinstance(find_edge(change, pair).target, Schedule)


def loses_fallback(change: PlanChange, pair: PlanPair) -> bool:
    """Tell whether a node ran in the place of one that cannot start, and none does so now."""
    old = find_edge(change, pair).target
    shown: Any = change.after
    return isinstance(old, Go) and old.otherwise is not None and "otherwise" not in shown["target"]


def may_lack_list(change: PlanChange, pair: PlanPair) -> bool:
    """Tell whether an answer of before the change may lack the list for whose elements nodes run, or have too many."""
    before, after = (
        [each.target for each in node.edges if each.on == change.name and isinstance(each.target, ForEach)]
        for node in pair.nodes_of(change.node)
    )
    known = {each.list: each.most for each in before}
    unproved = (each for each in after if known.get(each.list, each.most + 1) > each.most)
    return any(not _is_promised(each, pair, str(change.node)) for each in unproved)


def _is_promised(target: ForEach, pair: PlanPair, node: str) -> bool:
    """Tell whether the old plan promises the list of elements, and no more than may run."""
    root, *inside = target.list
    plan, act = pair.old, pair.old.nodes[node].act
    if root == "ctx" and inside:
        given = plan.inputs.get(str(inside.pop(0)))
        schema = None if given is None else given.schema
    else:
        schema = act.schema if isinstance(act, Converse) and root == "parsed" else None
    wanted: Json = {"type": "array", "maxItems": target.most}
    for name in reversed(inside):
        wanted = {"type": "object", "required": [name], "properties": {str(name): wanted}}
    return schema is not None and compare_texts(plan.contents[schema], json.dumps(wanted)).holds is True


def is_first(change: PlanChange, pair: PlanPair) -> bool:
    """Tell whether an edge that is new may be taken in the place of one that was there before."""
    shown: Any = change.after
    key = ("order of edges", change.node, change.name)
    places, last_known = pair.memo.once(key, lambda: _find_places(pair, change))
    return last_known > places.get(repr(shown.get("when", [])), 0)


def _find_places(pair: PlanPair, change: PlanChange) -> tuple[Mapping[str, int], int]:
    """Return the first place of terms among the new edges of an outcome, and the last of an edge that was there."""
    before, after = (each.edges for each in pair.nodes_of(change.node))
    known = {repr(each.when) for each in before if each.on == change.name}
    places: dict[str, int] = {}
    last_known = -1
    for at, each in enumerate(each for each in after if each.on == change.name):
        places.setdefault(repr(write_all(each.when)), at)
        last_known = at if repr(each.when) in known else last_known
    return places, last_known


def jumps(pair: PlanPair, node: str | None) -> bool:
    """Tell whether an answer of a node of the old plan may name the node that follows."""
    return any(isinstance(each.target, Named | Pick) for each in pair.old.nodes[str(node)].edges)


def list_questions(given: Json) -> list[Json]:
    """Return the kinds of judgements of a judge that only the world can make, in order."""
    told: Any = given
    parts = list(_parts(told)) if told is not None else []
    return [each for each in parts if each in {"poll:state", "meta:custom"}]


def _parts(told: Mapping[str, Any]) -> Iterator[Json]:
    if told["kind"] != "meta:composite":
        yield told["kind"]
        return
    listed = told["settings"].get("conditions")
    for each in listed if isinstance(listed, list) else []:
        yield each.get("type") if isinstance(each, dict) else None
