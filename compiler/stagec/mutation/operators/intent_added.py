"""An intent that a gate does not allow is allowed, and leads back to the node itself or to the next one."""

from __future__ import annotations

import json
from collections.abc import Iterator

from stagec.core.json import Json, list_of, object_of
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, add_text, change_node, operator
from stagec.plan import Plan
from stagec.plan.act import Prompt
from stagec.plan.gate import IntentGate
from stagec.plan.node import Edge, Go, Outcome, Stop

_INTENTS = ("next", "repeat", "handoff", "closing", "escalate", "jump")


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Allow the first of the well-known intents that a gate does not know, in the schema of the answers as well."""
    for name, node in plan.nodes.items():
        gate, act = node.gate, node.act
        intent = next((each for each in _INTENTS if each not in getattr(gate, "intents", _INTENTS)), None)
        if not isinstance(gate, IntentGate) or not isinstance(act, Prompt) or intent is None:
            continue
        target = Stop(Outcome.DONE) if intent == "closing" else Go(name)
        fields = {
            "gate": replace(gate, intents=(*gate.intents, intent)),
            "edges": (*node.edges, Edge(intent, target)),
        }
        told = f"the intent {quote(intent)} is allowed"
        wanted = f"'refuses': an answer with the intent {quote(intent)}"
        mutant = change_node(plan, name, ("gate", "intents"), told, wanted, **fields)
        if act.schema is not None:
            schema = _widen(json.loads(plan.contents[act.schema]), gate.field, intent)
            content, mutant = add_text(mutant, schema)
            nodes = {name: replace(mutant.nodes[name], act=replace(act, schema=content))}
            mutant = replace(mutant, nodes=nodes)
        yield mutant


def _widen(schema: Json, field: tuple[str | int, ...], intent: str) -> Json:
    """Return a schema in which the values at a path may be an intent as well, where it lists them."""
    part = dict(object_of(schema))
    if not field:
        return {**part, "enum": [*list_of(part["enum"]), intent]} if "enum" in part else schema
    inner = object_of(part.get("properties"))
    if field[0] not in inner:
        return schema
    return {**part, "properties": {**inner, str(field[0]): _widen(inner[str(field[0])], field[1:], intent)}}
