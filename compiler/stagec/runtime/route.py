"""Which edge an outcome takes: § 3.8 of the format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stagec.core.json import Json
from stagec.plan.node import Edge, Go, Named, Target
from stagec.runtime.terms import all_hold


def chosen(edges: Iterable[Edge], result: Json, named: str | None = None) -> Target | None:
    """Return the target of the first of the edges of one outcome that a result can take; nothing when it takes none.

    `named` is the node that the answer names. A target that leaves the choice to the answer is returned decided.
    """
    for edge in edges:
        if edge.when and not all_hold(edge.when, result):
            continue
        target = edge.target
        if type(target) is not Named:
            return target
        if named in target.nodes:
            return Go(target.nodes[str(named)])
    return None


def by_outcome(edges: Iterable[Edge]) -> Mapping[str, tuple[Edge, ...]]:
    """Return edges by the outcome that allows them, in their order."""
    found: dict[str, list[Edge]] = {}
    for edge in edges:
        found.setdefault(edge.on, []).append(edge)
    return {outcome: tuple(each) for outcome, each in found.items()}
