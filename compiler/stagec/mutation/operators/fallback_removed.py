"""The fallback is removed for a node that cannot start, or for an intent that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_edge, change_node, describe_edge, list_edges, operator
from stagec.plan import Plan
from stagec.plan.gate import IntentGate
from stagec.plan.node import Go


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Drop each fallback of gates and of edges, and let gates fall back on each other intent."""
    for name, number, edge in list_edges(plan):
        if isinstance(edge.target, Go) and edge.target.otherwise is not None:
            told = f"{describe_edge(edge, number)} has no fallback {quote(edge.target.otherwise)}"
            wanted = f"a run in which {quote(edge.target.node)} cannot start"
            yield change_edge(plan, name, number, told, wanted, target=replace(edge.target, otherwise=None))
    for name, node in plan.nodes.items():
        gate = node.gate
        if not isinstance(gate, IntentGate) or gate.fail_fast:
            continue
        wanted = "a run with an answer without an intent"
        strict = replace(gate, fail_fast=True, fallback=None)
        yield change_node(plan, name, ("gate", "fallback"), "there is no fallback", wanted, gate=strict)
        for other in gate.intents:
            if other != gate.fallback:
                told = f"the fallback is {quote(other)} instead of {quote(gate.fallback)}"
                changed = replace(gate, fallback=other)
                yield change_node(plan, name, ("gate", "fallback"), told, wanted, gate=changed)
