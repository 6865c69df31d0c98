"""An intent that a gate allows is no longer allowed."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_node, operator
from stagec.plan import Plan
from stagec.plan.gate import IntentGate


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Take each intent from each gate that has several, with the edges of the intent."""
    for name, node in plan.nodes.items():
        gate = node.gate
        if not isinstance(gate, IntentGate) or not gate.intents[1:]:
            continue
        for intent in gate.intents:
            rest = tuple(each for each in gate.intents if each != intent)
            edges = tuple(each for each in node.edges if each.on != intent)
            told = f"the intent {quote(intent)} is gone, with its edges"
            wanted = f"a run in which the answer is {quote(intent)}"
            yield change_node(
                plan, name, ("gate", "intents"), told, wanted, gate=replace(gate, intents=rest), edges=edges
            )
