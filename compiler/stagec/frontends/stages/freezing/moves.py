"""From the edges of a flow to those of a plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from stagec.frontends.stages.freezing.terms import of_result
from stagec.model import flow
from stagec.plan.node import Chain, Edge, Fork, Go, Outcome, Stop, Target

_VERDICT, _FAIL = ("verdict",), "fail"


def moves(node: flow.Node) -> tuple[Edge, ...]:
    """Return the edges of a node in their order.

    A case for results of any verdict is one edge of the flow; a runner, which first asks for the outcome, needs two.
    """
    return tuple(edge for each in node.edges for edge in _moves(each))


def _moves(edge: flow.Edge) -> Iterator[Edge]:
    target, when = _target(edge.target), of_result(edge.when)
    yield Edge(edge.outcome, target, when)
    if edge.outcome != _FAIL and any(map(_allows_failure, edge.when)):
        yield Edge(_FAIL, target, when)


def _allows_failure(term: flow.Term) -> bool:
    return term.path == _VERDICT and (term.present is True or _FAIL in term.values)


def _target(target: flow.Target) -> Target:
    match target:
        case flow.To(mode=flow.Mode.CHAIN):
            return Chain(target.nodes)
        case flow.To(mode=flow.Mode.ONE, join=None):
            return Go(target.nodes[0])
        case flow.To():
            return Fork(target.nodes, target.join)
        case flow.Stop():
            return Stop(Outcome(target.end.value))
        case flow.Back():
            raise TypeError("no stage goes back to whatever led to it")
        case _:
            assert_never(target)
