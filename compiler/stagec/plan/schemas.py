"""Which contents of a plan are JSON Schemas that the machine judges by; those of tools are for models."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.plan.act import Converse, Prompt
from stagec.plan.document import Plan


def schemas(plan: Plan) -> Iterator[str]:
    """Yield the contents of a plan that are schemas, some of them more than once."""
    acts = [node.act for node in plan.nodes.values()]
    asked = [act.schema for act in acts if isinstance(act, Prompt | Converse)]
    handed = [act.accepts for act in acts if isinstance(act, Converse)]
    given = [each.schema for each in plan.inputs.values()]
    yield from (each for each in (*asked, *handed, *given) if each is not None)
