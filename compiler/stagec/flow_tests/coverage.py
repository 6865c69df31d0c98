"""How much of a plan tests have run: its nodes, edges, cases and rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stagec.core.value import value
from stagec.core.words import quote
from stagec.flow_tests.execution import Observation
from stagec.plan import Plan
from stagec.plan.gate import VerdictGate
from stagec.plan.node import Edge, Fork, Go, Named, Pick, Stop, list_targets
from stagec.runtime import Move

KINDS = ("node", "edge", "case", "rule")
"""What is counted.

A case is an edge with conditions, and each node that an answer or a fallback may choose. A rule is a check by which
results are judged, and a validator that may refuse one.
"""


@value
class CoveredPart:
    """One of the things that are counted: its kind, its node, and which one of the node it is."""

    kind: str
    node: str
    number: int = 0
    name: str = ""


@value
class Coverage:
    """The parts of a plan, and those that were run."""

    known: frozenset[CoveredPart]
    run: frozenset[CoveredPart]

    @property
    def percent(self) -> float:
        """The share of the parts that were run, from 0 to 100."""
        return 100.0 * len(self.run) / len(self.known) if self.known else 100.0

    def count(self, kind: str) -> tuple[int, int]:
        """Return how many parts of a kind were run, and how many there are."""
        return sum(each.kind == kind for each in self.run), sum(each.kind == kind for each in self.known)


def measure_coverage(plan: Plan, observations: Iterable[Observation]) -> Coverage:
    """Return what of a plan runs have covered."""
    known = frozenset(_list_parts(plan))
    run = {part for each in observations for part in _list_run(plan, each)}
    return Coverage(known, known & run)


def _list_parts(plan: Plan) -> Iterator[CoveredPart]:
    for name, node in plan.nodes.items():
        yield CoveredPart("node", name)
        for number, edge in enumerate(node.edges):
            chosen = _list_chosen(plan, edge)
            if not isinstance(edge.target, Named | Pick):
                yield CoveredPart("case" if edge.when else "edge", name, number)
            yield from (CoveredPart("case", name, number, each) for each in dict.fromkeys(chosen))
        yield from (CoveredPart("rule", name, *rule[:2]) for rule in _list_rules(plan, name))


def _list_chosen(plan: Plan, edge: Edge) -> tuple[str, ...]:
    """Return the nodes that a target leads to only where an answer, or that another one cannot start, says so."""
    match edge.target:
        case Pick():
            return tuple(plan.choices[edge.target.choices].values())
        case Named():
            return tuple(edge.target.nodes.values())
        case Go():
            return () if edge.target.otherwise is None else (edge.target.otherwise,)
        case _:
            return ()


def _list_rules(plan: Plan, name: str) -> Iterator[tuple[int, str, tuple[str, str]]]:
    """Yield the number and the title of each rule of a node, and by what a run that it has judged is known."""
    node = plan.nodes[name]
    if isinstance(node.gate, VerdictGate):
        for number, check in enumerate(node.gate.checks):
            yield number, f"check {number + 1}, {check.verdict}", (check.verdict, check.reason or "")
    if node.validation is not None:
        for each in dict.fromkeys(one.validator for one in node.validation.checked):
            yield 0, f"validator {each}", ("refused", plan.validators[each].pattern)


def _list_run(plan: Plan, found: Observation) -> Iterator[CoveredPart]:
    for move in found.moves:
        yield CoveredPart("node", move.node)
        for number, name in _find_edge(plan, move):
            yield from (CoveredPart(kind, move.node, number, name) for kind in ("case", "edge"))
    for node in plan.nodes:
        for number, title, mark in _list_rules(plan, node):
            if (node, *mark) in found.judged:
                yield CoveredPart("rule", node, number, title)


def _find_edge(plan: Plan, move: Move) -> Iterator[tuple[int, str]]:
    """Yield the edge that a move took: the first that leads where it led, or that ends its branch."""
    possible = [(number, each) for number, each in enumerate(plan.nodes[move.node].edges) if each.on == move.outcome]
    led = set(move.to)
    for number, each in possible:
        if led and led <= {*_list_chosen(plan, each)}:
            yield number, move.to[0]
            return
        if led and led <= {*list_targets(each.target)}:
            yield number, ""
            return
    ending = (number for number, each in possible if isinstance(each.target, Stop))
    yield from ((number, "") for number in (next(ending, None),) if number is not None)


def describe_missing(plan: Plan, coverage: Coverage) -> Iterator[str]:
    """Yield a line for each node that no test ran, and for each other part of the nodes that were run."""
    missing = coverage.known - coverage.run
    idle = {each.node for each in missing if each.kind == "node"}
    yield from (f"no test runs {quote(each)}" for each in sorted(idle))
    for part in sorted(missing, key=lambda each: (each.node, each.kind, each.number, each.name)):
        if part.node not in idle:
            yield _describe(plan, part)


def _describe(plan: Plan, part: CoveredPart) -> str:
    if part.kind == "rule":
        return f"no test is judged by {quote(part.node)}, {part.name}"
    edge = plan.nodes[part.node].edges[part.number]
    if part.name:
        way = "a fallback" if isinstance(edge.target, Go) else "an answer"
        return f"no test takes {quote(part.node)} → {quote(part.name)} on {quote(edge.on)}, as {way} may say"
    ends = ", ".join(map(quote, _show_ends(edge))) or "the end"
    case = f", case {part.number + 1}" if edge.when else ""
    return f"no test takes {quote(part.node)} → {ends} on {quote(edge.on)}{case}"


def _show_ends(edge: Edge) -> tuple[str, ...]:
    if isinstance(edge.target, Go):
        return (edge.target.node,)
    return edge.target.nodes if isinstance(edge.target, Fork) else list_targets(edge.target)
