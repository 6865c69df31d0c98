"""A node may use a tool that the flow does not allow."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_act, operator
from stagec.plan import Plan
from stagec.plan.act import Converse, Prompt


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Give each node each tool of the plan that it has not."""
    for name, node in plan.nodes.items():
        tools = node.act.tools if isinstance(node.act, Converse | Prompt) else None
        for tool in plan.tools if tools is not None else ():
            if tool not in (tools or ()):
                told = f"the tool {quote(tool)} is allowed"
                wanted = f"no 'calls' of {quote(tool)} where it is asked for, or the 'tools' that the model is offered"
                yield change_act(plan, name, ("tools",), told, wanted, tools=(*(tools or ()), tool))
