"""Which outcomes a node allows, under which conditions, and where each leads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from stagec.cli.commands.simulate.making import Wish, made
from stagec.core.json import Json
from stagec.core.value import value
from stagec.plan.act import Prompt
from stagec.plan.gate import Among, Exists, IntentGate, Reads, Term
from stagec.plan.node import Chain, Edge, Fork, Go, Named, Node, Stop, Target
from stagec.runtime import Program
from stagec.runtime.execution import Execution
from stagec.runtime.gate import ABORT

FAIL = "fail"
_END = "end"
_OF_BRANCH = "end of its branch"
_ABORTED = "end (failed)"


@value
class Way:
    """One way on from a node: the outcome that allows it, the conditions on the result, and where it leads.

    `named` is the name that the answer must give, where the answer chooses among several nodes.
    """

    outcome: str
    leads: str
    terms: tuple[Term, ...] = ()
    named: str | None = None


def ways(program: Program, execution: Execution) -> tuple[Way, ...]:
    """Return the ways on from an execution, in the order in which they count; `abort` only where an answer may say it.

    What begins a branch of a fork takes edges on `fail` only; with any other outcome its branch ends.
    """
    node = program.plan.nodes[execution.node]
    found: list[Way] = []
    for edge in node.edges:
        if execution.begins_branch and edge.on != FAIL:
            found += [] if any(way.outcome == edge.on for way in found) else [Way(edge.on, f"{_OF_BRANCH} (done)")]
        else:
            found += _of_edge(edge, _END if execution.branch.scope is None else _OF_BRANCH)
    if all(way.outcome != ABORT for way in found) and _may_abort(program, node):
        found.append(Way(ABORT, _ABORTED))
    return tuple(found)


def _may_abort(program: Program, node: Node) -> bool:
    act, gate = node.act, node.gate
    if not isinstance(act, Prompt) or not isinstance(gate, IntentGate):
        return False
    return made(program, act.schema, [Wish(gate.field, ABORT)]) is not None


def _of_edge(edge: Edge, end: str) -> Iterator[Way]:
    target = edge.target
    if isinstance(target, Named):
        for name, node in target.nodes.items():
            yield Way(edge.on, node, edge.when, name)
    else:
        yield Way(edge.on, _leads(target, end), edge.when)


def _leads(target: Target, end: str) -> str:
    match target:
        case Go(node=node, otherwise=otherwise):
            return node if otherwise is None else f"{node}, or {otherwise} if it cannot start"
        case Fork(nodes=nodes, join=join):
            return f"{', '.join(nodes)} together" + (f", then {join}" if join is not None else "")
        case Chain(nodes=nodes):
            return ", then ".join(nodes)
        case Stop(outcome=outcome):
            return f"{end} ({outcome})"
        case Named():
            return "the node that the answer names"


def conditions(terms: Iterable[Term]) -> str:
    """Return `parsed.approved = true and reason present`."""
    return " and ".join(map(_condition, terms))


def _condition(term: Term) -> str:
    path = ".".join(map(str, term.path))
    match term:
        case Among(values=values):
            return f"{path} = {_any(values)}"
        case Reads(texts=texts):
            return f"{path} reads {_any(texts)}"
        case Exists(present=present):
            return f"{path} {'present' if present else 'absent'}"


def _any(values: Iterable[Json]) -> str:
    return " or ".join(json.dumps(each, ensure_ascii=False) for each in values)
