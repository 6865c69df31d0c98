"""From the edges of a flow to those of a plan, in the order in which a runner tries them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from stagec.frontends.registry.document import Intent
from stagec.model import flow
from stagec.plan.gate import Among, ExitGate, Gate, JudgeGate, Reads, Term
from stagec.plan.node import Edge, Go, Named, Outcome, Pick, Stop, Target

_FAILED = Stop(Outcome.FAILED)
_OF_PROGRAMS = frozenset({Intent.CLOSING.value, Intent.REPEAT.value})
"""What the exit status of a program can mean."""
_NULL = "null"


class Moves:
    """Makes the edges of a registry's steps; every outcome that can be has an edge.

    `choices` are the steps that answers may name, where several edges have them in common or any step may be named.
    """

    def __init__(self, meant: flow.Flow) -> None:
        self._flow = meant
        shared = [target for target, edges in meant.picks if edges > 1]
        self._shared = {id(target): str(at) for at, target in enumerate(shared, 1)}
        names_any = any(node.names_any for node in meant.nodes.values())
        self.choices: Mapping[str, Mapping[str, str]] = {
            **({_ANY: meant.called} if names_any else {}),
            **{self._shared[id(target)]: target.names for target in shared},
        }

    def edges(self, name: str, gate: Gate, allowed: Collection[str]) -> tuple[Edge, ...]:
        """Return the edges of a step with this gate, for the outcomes that it allows and those it has by itself."""
        node = self._flow.nodes[name]
        written = _by_outcome(node.edges)
        if isinstance(gate, JudgeGate):
            return tuple(_judge(written))
        kept = {*allowed, Intent.ABORT.value, *(_OF_PROGRAMS if isinstance(gate, ExitGate) else ())}
        routed = tuple(edge for on, edges in written.items() if on in kept for edge in _moves(on, edges))
        is_lost = Intent.ABORT in allowed and Intent.ABORT not in written
        return (*self._jumps(node), *routed, *((Edge(Intent.ABORT.value, _FAILED),) if is_lost else ()))

    def _jumps(self, node: flow.Node) -> Iterator[Edge]:
        """Yield the move to a step that the answer names: to those that it may name, to any where all are possible."""
        if node.names_any:
            yield Edge(Intent.JUMP.value, Pick(_ANY))
        for edge in node.edges:
            if isinstance(edge.target, flow.Pick):
                yield Edge(edge.outcome, self._pick(edge.target))

    def _pick(self, target: flow.Pick) -> Target:
        shared = self._shared.get(id(target))
        return Named(target.names) if shared is None else Pick(shared)


_ANY = "any"
"""What choices are called that have every step."""


def _by_outcome(edges: Iterable[flow.Edge]) -> Mapping[str, list[flow.Edge]]:
    """Return the edges of each outcome, without those that lead to what was only likely meant, or to a named node."""
    found: dict[str, list[flow.Edge]] = {}
    for edge in edges:
        if not edge.repair and not isinstance(edge.target, flow.Pick):
            found.setdefault(edge.outcome, []).append(edge)
    return found


def _judge(written: Mapping[str, list[flow.Edge]]) -> Iterator[Edge]:
    """Yield the moves of a step without a gate; where nothing follows it, work that is not done has failed."""
    if Intent.NEXT not in written:
        yield Edge(Intent.NEXT.value, _FAILED)
    for outcome, edges in written.items():
        yield from _moves(outcome, edges)


def _moves(outcome: str, edges: Iterable[flow.Edge]) -> Iterator[Edge]:
    """Yield the moves of one outcome; what ends the run does so always, and a fallback serves each of the targets."""
    ends = [edge.target for edge in edges if isinstance(edge.target, flow.Stop)]
    if ends:
        yield Edge(outcome, Stop(Outcome(ends[0].end.value)))
        return
    fallback = next((node for edge in edges if edge.fallback for node in _nodes(edge)), None)
    for edge in sorted(edges, key=_is_default):
        for node in () if edge.fallback else _nodes(edge):
            yield Edge(outcome, Go(node, fallback if fallback != node else None), tuple(map(_term, edge.when)))


def _is_default(edge: flow.Edge) -> bool:
    return not edge.when


def _nodes(edge: flow.Edge) -> tuple[str, ...]:
    return edge.target.nodes if isinstance(edge.target, flow.To) else ()


def _term(term: flow.Term) -> Term:
    """Return what holds of a value for which a case is written: null is written as JSON writes it, not as holes do."""
    path, (case,) = ("handoff", *term.path), term.values
    is_special = case in {"", _NULL}
    return Among(path, (case, None) if case == _NULL else (case,)) if is_special else Reads(path, (str(case),))
