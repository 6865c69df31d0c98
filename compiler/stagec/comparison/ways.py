"""Where outcomes of the old plan lead under the new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stagec.comparison.change import PlanChange
from stagec.comparison.nodes import resolve_edge, show_edge
from stagec.comparison.pair import PlanPair
from stagec.core.json import Json
from stagec.plan.document import Plan
from stagec.plan.gate import Gate, IntentGate
from stagec.plan.node import Edge, Go, Named, Pick, Schedule
from stagec.plan.node_codecs import TERMS


def find_edge(change: PlanChange, pair: PlanPair) -> Edge:
    """Return the old edge that a change is about."""
    shown: Any = change.before
    edges = pair.memo.once(
        ("old edges", change.node), lambda: _group(pair.old, change, lambda each: repr(TERMS.write(each.when)))
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
        has_terms = TERMS.write(edge.when) == shown.get("when", [])
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
        places.setdefault(repr(TERMS.write(each.when)), at)
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
