"""A stage may take one turn more or less in an attempt."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.mutation.mutant import Mutant, change_act, operator
from stagec.plan import Plan
from stagec.plan.act import Converse


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Shift the cap of turns of each conversation."""
    for name, node in plan.nodes.items():
        if isinstance(node.act, Converse):
            turns = node.act.turns
            for after in (turns + 1, turns - 1) if turns > 1 else (turns + 1,):
                told = f"{after} turns instead of {turns}"
                wanted = "a run in which a model uses all its turns, and how many 'turns' these are"
                yield change_act(plan, name, ("turns",), told, wanted, turns=after)
