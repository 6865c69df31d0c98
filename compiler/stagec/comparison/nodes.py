"""What differs in one node of two plans: its gate, its edges, and what is checked before and after it acts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from stagec.comparison.acts import compare_acts
from stagec.comparison.change import Action, PlanChange
from stagec.comparison.templates import compare_templates
from stagec.comparison.values import compare_tables, compare_values
from stagec.core.json import Json, object_of
from stagec.core.value import replace
from stagec.plan.document import Plan
from stagec.plan.gate import AgentGate, IntentGate, RestGate, Validation, VerdictGate
from stagec.plan.node import Edge, Named, Node, Pick
from stagec.plan.node_codecs import ADMISSION, GATE, TARGET, TERMS, VALIDATION


def compare_node(name: str, old: Plan, new: Plan) -> Iterator[PlanChange]:
    """Yield the differences of a node that both plans have."""
    before, after = old.nodes[name], new.nodes[name]
    admissions = (None if each.admission is None else ADMISSION.write(each.admission) for each in (before, after))
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
        yield from compare_values("agent-outcomes", GATE.write(before), GATE.write(after))
    elif isinstance(before, VerdictGate):
        yield from compare_values("checks", *(object_of(GATE.write(each)).get("checks") for each in (before, after)))


def _compare_edges(old: tuple[Edge, ...], new: tuple[Edge, ...]) -> Iterator[PlanChange]:
    """Yield edges that are gone or new, and those that lead elsewhere: an edge is known by its outcome and terms."""
    before, after = (dict(_number(edges)) for edges in (old, new))
    for key in dict.fromkeys((*before, *after)):
        one, other = before.get(key), after.get(key)
        shown: list[Json] = [None if each is None else show_edge(each) for each in (one, other)]
        yield from compare_values("edge", *shown, name=key[0])
    kept = [[key for key in edges if key in before and key in after] for edges in (before, after)]
    for outcome in dict.fromkeys(edge.on for edge in old):
        orders = [[key for key in keys if key[0] == outcome] for keys in kept]
        if orders[0] != orders[1]:
            yield PlanChange("edge-order", Action.CHANGED, name=outcome)


_Key = tuple[str, str, int]


def _number(edges: tuple[Edge, ...]) -> Iterator[tuple[_Key, Edge]]:
    """Yield edges with what they are known by: outcome, terms, and which one of those with the same it is."""
    seen: dict[tuple[str, str], int] = {}
    for edge in edges:
        key = (edge.on, repr(TERMS.write(edge.when)))
        seen[key] = seen.get(key, -1) + 1
        yield (*key, seen[key]), edge


def show_edge(edge: Edge) -> Json:
    """Return an edge as JSON; the format of plans says what it means."""
    return {
        "on": edge.on,
        "target": TARGET.write(edge.target),
        **({"when": TERMS.write(edge.when)} if edge.when else {}),
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
    return object_of(VALIDATION.write(validation)).get("conditions", [])


def _list_preflight(validation: Validation) -> Json:
    return object_of(VALIDATION.write(validation)).get("preflight", [])
