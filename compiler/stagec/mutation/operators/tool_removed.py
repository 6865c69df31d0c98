"""A node may no longer use one of its tools."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_act, operator
from stagec.plan import Plan
from stagec.plan.act import Converse, Prompt


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Take each tool from each node."""
    for name, node in plan.nodes.items():
        tools = node.act.tools if isinstance(node.act, Converse | Prompt) else None
        for tool in dict.fromkeys(tools or ()):
            rest = tuple(each for each in tools or () if each != tool)
            told = f"the tool {quote(tool)} is taken away"
            wanted = f"'calls' of {quote(tool)} there, or the 'tools' that the model is offered"
            yield change_act(plan, name, ("tools",), told, wanted, tools=rest)
