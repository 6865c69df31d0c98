"""Where outcomes of the old plan lead under the new one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stagec.comparison.change import PlanChange
from stagec.comparison.nodes import resolve_edges, show_edge
from stagec.comparison.pair import PlanPair
from stagec.core.json import Json
from stagec.plan.gate import IntentGate
from stagec.plan.node import Edge, Go, Named, Schedule


def find_edge(change: PlanChange, pair: PlanPair) -> Edge:
    """Return the old edge that a change is about."""
    edges = resolve_edges(pair.old, pair.old.nodes[str(change.node)])
    return next(each for each in edges if show_edge(each) == change.before)


def is_covered(change: PlanChange, pair: PlanPair) -> bool:
    """Tell whether whatever takes the old edge of a change certainly takes an edge of the new plan."""
    edge = find_edge(change, pair)
    edges = resolve_edges(pair.new, pair.new.nodes[str(change.node)])
    return any(_covers(each, edge) for each in edges if each.on == edge.on)


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
    edges = resolve_edges(pair.new, pair.new.nodes[str(change.node)])
    same = [show_edge(each) for each in edges if each.on == change.name]
    old = {repr(show_edge(each)) for each in resolve_edges(pair.old, pair.old.nodes[str(change.node)])}
    return any(repr(each) in old for each in same[same.index(change.after) :])


def jumps(pair: PlanPair, node: str | None) -> bool:
    """Tell whether an answer of a node of the old plan may name the node that follows."""
    return any(isinstance(each.target, Named) for each in resolve_edges(pair.old, pair.old.nodes[str(node)]))


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
