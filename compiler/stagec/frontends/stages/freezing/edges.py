"""From the edges and conditions of a flow to those of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from stagec.frontends.stages.document import StageCondition
from stagec.model import flow
from stagec.plan.gate import Among, Exists, Term
from stagec.plan.node import Chain, Edge, Fork, Go, Outcome, Stop, Target
from stagec.plan.template import Path

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
        case flow.Pick():
            raise TypeError("no result of a stage names the stage that follows")
        case _:
            assert_never(target)


_CONTEXT = "ctx"


def of_result(when: Iterable[StageCondition] | Iterable[flow.Term]) -> tuple[Term, ...]:
    """Return conditions on the result of a stage."""
    return tuple(_term(each, each.path) for each in when)


def of_context(when: Iterable[StageCondition], names: Iterable[str] | None) -> tuple[Term, ...]:
    """Return conditions on the context; `names` are those that it declares."""
    return tuple(_term(each, (_CONTEXT, *inside(each.path, names))) for each in when)


def inside(path: tuple[str, ...], names: Iterable[str] | None) -> tuple[str, ...]:
    """Return the path inside the context that a gate asks for; it may begin with the word that templates begin with."""
    spelt_out = path[:1] == (_CONTEXT,) and len(path) > 1 and _CONTEXT not in (names or ())
    return path[1:] if spelt_out else path


def _term(given: StageCondition | flow.Term, path: Path) -> Term:
    return Exists(path, given.present) if given.present is not None else Among(path, given.values)
