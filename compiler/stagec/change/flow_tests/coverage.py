"""The coverage of a plan by tests: its nodes, edges, cases and rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stagec.change.flow_tests.execution import Observation
from stagec.change.flow_tests.watched_steps import Judged, Taken, list_chosen
from stagec.core.value import value
from stagec.core.words import quote
from stagec.ir.plan import Plan
from stagec.ir.plan.gate import VerdictGate
from stagec.ir.plan.node import Edge, ForEach, Fork, Go, Named, Pick, list_targets

KINDS = ("node", "edge", "case", "rule")
"""The counted kinds of parts.

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
    """Return the parts of a plan that runs have covered."""
    known = frozenset(list_parts(plan))
    return Coverage(known, known.intersection(part for each in observations for part in list_parts_run(plan, each)))


def list_parts_run(plan: Plan, observed: Observation) -> Iterator[CoveredPart]:
    """Yield the parts that a run has covered, some of them more than once."""
    yield from (CoveredPart("node", node) for node in observed.path)
    yield from (find_part(plan, taken) for taken in observed.taken)
    yield from list_rules_run(plan, observed.judged)


def list_parts(plan: Plan) -> Iterator[CoveredPart]:
    """Yield everything that is counted of a plan."""
    for name, node in plan.nodes.items():
        yield CoveredPart("node", name)
        for number, edge in enumerate(node.edges):
            chosen = list_chosen(plan, edge)
            if not isinstance(edge.target, Named | Pick):
                yield CoveredPart("case" if edge.when else "edge", name, number)
            yield from (CoveredPart("case", name, number, each) for each in dict.fromkeys(chosen))
        yield from (CoveredPart("rule", name, *rule[:2]) for rule in _list_rules(plan, name))


def _list_rules(plan: Plan, name: str) -> Iterator[tuple[int, str, tuple[str, str]]]:
    """Yield the number and the title of each rule of a node, and by what a run that it has judged is known."""
    node = plan.nodes[name]
    if isinstance(node.gate, VerdictGate):
        for number, check in enumerate(node.gate.checks):
            yield number, f"check {number + 1}, {check.verdict}", (check.verdict, check.reason or "")
    if node.validation is not None:
        for each in dict.fromkeys(one.validator for one in node.validation.checked):
            yield 0, f"validator {each}", ("refused", plan.validators[each].pattern)


def find_part(plan: Plan, taken: Taken) -> CoveredPart:
    """Return the part of the coverage that a taken edge counts for."""
    node, number, name = taken
    edge = plan.nodes[node].edges[number]
    is_chosen = bool(name) or isinstance(edge.target, Named | Pick)
    return CoveredPart("case" if edge.when or is_chosen else "edge", node, number, name)


def list_rules_run(plan: Plan, judged: Iterable[Judged]) -> Iterator[CoveredPart]:
    """Yield the rules by which results have been judged."""
    for node, *mark in judged:
        for number, title, wanted in _list_rules(plan, node) if node in plan.nodes else ():
            if (*mark,) == wanted:
                yield CoveredPart("rule", node, number, title)


def describe_missing(plan: Plan, coverage: Coverage) -> Iterator[str]:
    """Yield a line for each node that no test ran, and for each other part of the nodes that were run."""
    missing = coverage.known - coverage.run
    idle = {each.node for each in missing if each.kind == "node"}
    yield from (f"no test runs {quote(each)}" for each in sorted(idle))
    for part in sorted(missing, key=lambda each: (each.node, each.kind, each.number, each.name)):
        if part.node not in idle:
            verb = "is judged by" if part.kind == "rule" else "takes"
            yield f"no test {verb} {describe_part(plan, part)}"


def describe_part(plan: Plan, part: CoveredPart) -> str:
    """Return a part as people read it: `'check' → 'repair' on 'ok', case 2`."""
    if part.kind == "node":
        return quote(part.node)
    if part.kind == "rule":
        return f"{quote(part.node)}, {part.name}"
    edge = plan.nodes[part.node].edges[part.number]
    if part.name:
        way = "a fallback" if isinstance(edge.target, Go) else "an answer"
        return f"{quote(part.node)} → {quote(part.name)} on {quote(edge.on)}, as {way} may say"
    ends = ", ".join(map(quote, _show_ends(edge))) or "the end"
    case = f", case {part.number + 1}" if edge.when else ""
    return f"{quote(part.node)} → {ends} on {quote(edge.on)}{case}"


def _show_ends(edge: Edge) -> tuple[str, ...]:
    if isinstance(edge.target, Go):
        return (edge.target.node,)
    return edge.target.nodes if isinstance(edge.target, Fork | ForEach) else list_targets(edge.target)
