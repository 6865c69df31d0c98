"""A node no longer keeps a value for others, or no longer reads a kept value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_act, change_node, operator
from stagec.plan import Plan
from stagec.plan.act import Act, Carried, Prompt, Supply
from stagec.plan.gate import IntentGate


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Drop each path of each hand-off, and each variable that is carried over."""
    for name, node in plan.nodes.items():
        gate, act = node.gate, node.act
        for path in gate.handoff if isinstance(gate, IntentGate) else ():
            told = f"{quote('.'.join(map(str, path)))} is not kept for other nodes"
            rest = tuple(each for each in gate.handoff if each != path) if isinstance(gate, IntentGate) else ()
            wanted = "a later node whose 'prompts' have the value"
            yield change_node(plan, name, ("gate", "handoff"), told, wanted, gate=replace(gate, handoff=rest))
        for key, supply in _list_variables(act).items():
            if isinstance(supply, Carried):
                told = f"the variable {quote(key)} does not get the value of {quote(supply.node)}"
                variables = {**_list_variables(act), key: replace(supply, key="", required=False)}
                wanted = "the value in the 'prompts' of the node"
                yield change_act(plan, name, ("variables", key), told, wanted, variables=variables)


def _list_variables(act: Act) -> Mapping[str, Supply]:
    return act.variables if isinstance(act, Prompt) else {}
