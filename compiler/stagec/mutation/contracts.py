"""The schemas of a plan that answers and inputs are judged by, and plans with other ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, add_text, change_act
from stagec.mutation.schema_edits import SchemaEdit
from stagec.plan import Plan
from stagec.plan.act import Converse, Prompt

SCHEMAS = {"schema": "the schema of its answers", "accepts": "the schema of its inputs"}
"""The members of acts that are schemas."""


def change_schemas(plan: Plan, change: Callable[[Json], Iterator[SchemaEdit]], wanted: str) -> Iterator[Mutant]:
    """Yield plans with another schema of a node, or of an input."""
    for name, node in plan.nodes.items():
        for member, noun in SCHEMAS.items() if isinstance(node.act, Converse | Prompt) else ():
            content = getattr(node.act, member, None)
            for edit in change(json.loads(plan.contents[content])) if content is not None else ():
                told = f"{noun}: {edit.told}"
                mutant = change_act(plan, name, (member, *edit.at), told, wanted)
                made, mutant = add_text(mutant, edit.schema)
                nodes = {name: replace(node, act=replace(node.act, **{member: made}))}
                yield replace(mutant, nodes=nodes)
    for name, given in plan.inputs.items():
        for edit in change(json.loads(plan.contents[given.schema])) if given.schema is not None else ():
            told = f"the schema of the input {quote(name)}: {edit.told}"
            mutant = Mutant(None, ("inputs", name, "schema", *edit.at), told, wanted)
            made, mutant = add_text(mutant, edit.schema)
            inputs = {**plan.inputs, name: replace(given, schema=made)}
            yield replace(mutant, fields={**mutant.fields, "inputs": inputs})
