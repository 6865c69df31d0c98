"""Plans with one change, and edits of the schemas in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from inspect import cleandoc
from typing import Any

from stagec.core.canonical import MOST, compact, digest
from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.place import Pointer
from stagec.core.shelf import docstring
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import quote
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Act, Converse, Prompt
from stagec.ir.plan.node import Edge, Node


@value
class Mutant:
    """One thing of a plan, changed.

    `node` is the only node whose executions differ; None where the run as a whole does. `at` points into the plan as
    `docs/plan-format.md` has it. `told` says what was changed, `wanted` what a test has to expect to notice it. `nodes`
    and `fields` are what stands in the plan instead; texts of `fields["contents"]` stand beside those of the plan.
    """

    node: str | None
    at: Pointer
    told: str
    wanted: str
    nodes: Mapping[str, Node] = NOTHING
    fields: Mapping[str, Any] = NOTHING
    operator: str = ""

    def apply(self, plan: Plan) -> Plan:
        """Return the plan with the change, without facts: those of the plan may be none of it."""
        contents = {**plan.contents, **self.fields.get("contents", {})}
        fields = {**self.fields, "contents": contents, "nodes": {**plan.nodes, **self.nodes}}
        return replace(plan, **{"facts": None, **fields})


Mutate = Callable[[Plan], Iterator[Mutant]]


@value
class Operator:
    """A kind of change: its name, its page, and what makes the mutants of a plan."""

    name: str
    page: str
    mutate: Mutate

    def list_mutants(self, plan: Plan) -> Iterator[Mutant]:
        """Yield the mutants of a plan, always in the same order."""
        for each in self.mutate(plan):
            yield replace(each, operator=self.name)


def operator(mutate: Mutate) -> Operator:
    """Declare the decorated function as the operator that has its name, and its docstring as the operator's page."""
    return Operator(mutate.__name__.replace("_", "-"), cleandoc(docstring(mutate)), mutate)


def change_node(plan: Plan, name: str, way: Pointer, told: str, wanted: str, **fields: Any) -> Mutant:
    """Return a mutant in which some fields of a node differ; `way` leads from the node to what was changed."""
    nodes = {name: replace(plan.nodes[name], **fields)}
    return Mutant(name, ("nodes", name, *way), f"{quote(name)}: {told}", wanted, nodes)


def change_act(plan: Plan, name: str, way: Pointer, told: str, wanted: str, **fields: Any) -> Mutant:
    """Return a mutant in which some fields of what a node does differ."""
    act: Act = replace(plan.nodes[name].act, **fields)
    return change_node(plan, name, ("act", *way), told, wanted, act=act)


def change_edge(plan: Plan, name: str, number: int, told: str, wanted: str, **fields: Any) -> Mutant:
    """Return a mutant in which some fields of an edge differ."""
    edges = [*plan.nodes[name].edges]
    edges[number] = replace(edges[number], **fields)
    return change_node(plan, name, ("edges", number), told, wanted, edges=tuple(edges))


def add_text(mutant: Mutant, text: Json) -> tuple[str, Mutant]:
    """Return the name under which a mutant has a schema in its contents, and the mutant with it."""
    written = compact(text)
    name = digest(written.encode())
    contents = {**mutant.fields.get("contents", {}), name: written}
    return name, replace(mutant, fields={**mutant.fields, "contents": contents})


def list_edges(plan: Plan) -> Iterator[tuple[str, int, Edge]]:
    """Yield every edge with its node and its number there."""
    for name, node in plan.nodes.items():
        yield from ((name, number, edge) for number, edge in enumerate(node.edges))


def describe_edge(edge: Edge, number: int) -> str:
    """Return the name of an edge: `the edge on 'ok'`, with its number if it has conditions."""
    return f"the edge on {quote(edge.on)}{f', case {number + 1},' if edge.when else ''}"


_LEAST = ("minLength", "minItems", "minProperties", "minimum", "exclusiveMinimum", "minContains")
_MOST = ("maxLength", "maxItems", "maxProperties", "maximum", "exclusiveMaximum", "maxContains")
_PLAIN = ("type", "const", "pattern", "format", "uniqueItems", "multipleOf", "not", "if")
_TABLES = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_ONES = ("items", "additionalProperties", "contains", "propertyNames", "then", "else")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_DEEPEST = 30


@value
class SchemaEdit:
    """A schema with one changed constraint: its place, the change, and the whole schema."""

    at: Pointer
    told: str
    schema: Json


def loosen(schema: Json) -> Iterator[SchemaEdit]:
    """Yield schemas that allow more: each lacks a constraint, or has one with a wider bound."""
    for at, part in _list_parts(schema):
        for name in list_of(part.get("required")):
            rest = [each for each in list_of(part["required"]) if each != name]
            yield _edit(schema, at, "required", rest, f"{quote(name)} is no longer required")
        if part.get("additionalProperties") is False:
            yield _edit(schema, at, "additionalProperties", None, "other members are allowed")
        if isinstance(part.get("enum"), list):
            more = _think_of_another(list_of(part["enum"]))
            yield _edit(schema, at, "enum", [*list_of(part["enum"]), more], f"{quote(more)} is allowed as well")
        for key in _PLAIN:
            if key in part:
                yield _edit(schema, at, key, None, f"{quote(key)} is gone")
        yield from _shift(schema, at, part, -1)


def tighten(schema: Json) -> Iterator[SchemaEdit]:
    """Yield schemas that allow less: each demands one thing more, or has a narrower bound."""
    for at, part in _list_parts(schema):
        required = list_of(part.get("required"))
        for name in object_of(part.get("properties")):
            if name not in required:
                yield _edit(schema, at, "required", [*required, name], f"{quote(name)} is required")
        if "properties" in part and part.get("additionalProperties", True) is True:
            yield _edit(schema, at, "additionalProperties", False, "other members are not allowed")
        values = list_of(part.get("enum"))
        for index, each in enumerate(values if len(values) > 1 else ()):
            rest = values[:index] + values[index + 1 :]
            yield _edit(schema, at, "enum", rest, f"{quote(each)} is no longer allowed")
        yield from _shift(schema, at, part, 1)


def _shift(schema: Json, at: Pointer, part: Object, step: int) -> Iterator[SchemaEdit]:
    """Yield schemas with bounds moved by one: minima by `step`, maxima the other way."""
    for key, by in (*((key, step) for key in _LEAST), *((key, -step) for key in _MOST)):
        bound = part.get(key)
        if isinstance(bound, int | float) and not isinstance(bound, bool):
            after = bound + by
            is_void = after < 0 and key not in {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
            is_exact = abs(after) <= MOST and after != bound
            if is_exact and not (is_void and step > 0):
                yield _edit(schema, at, key, None if is_void else after, f"{quote(key)} {bound} → {after}")


def _think_of_another(values: list[Json]) -> Json:
    """Return a value like those in a list and none of them."""
    numbers = [each for each in values if isinstance(each, int | float) and not isinstance(each, bool)]
    if numbers and max(numbers) < MOST:
        return max(numbers) + 1
    found = "other"
    while found in values:
        found += "-other"
    return found


def _list_parts(schema: Json) -> list[tuple[Pointer, Object]]:
    """Return every schema inside a schema, itself first."""
    found: list[tuple[Pointer, Object]] = []
    todo: list[tuple[Pointer, Json]] = [((), schema)]
    for at, part in todo:  # grows while it is walked
        if not isinstance(part, dict) or len(at) > _DEEPEST:
            continue
        found.append((at, part))
        todo += [((*at, key, name), each) for key in _TABLES for name, each in object_of(part.get(key)).items()]
        todo += [((*at, key), part[key]) for key in _ONES if isinstance(part.get(key), dict)]
        todo += [((*at, key, index), each) for key in _LISTS for index, each in enumerate(list_of(part.get(key)))]
    return found


def _edit(schema: Json, at: Pointer, key: str, given: Json, told: str) -> SchemaEdit:
    where = ".".join(str(each) for each in at if each != "properties")
    return SchemaEdit((*at, key), f"{where}: {told}" if where else told, _put(schema, at, key, given))


def _put(schema: Json, at: Pointer, key: str, given: Json) -> Json:
    """Return a schema in which a keyword of one of its parts has another value, or is gone with null."""
    if isinstance(schema, list):
        return [_put(each, at[1:], key, given) if index == at[0] else each for index, each in enumerate(schema)]
    part = dict(object_of(schema))
    if at:
        return {**part, str(at[0]): _put(part[str(at[0])], at[1:], key, given)}
    return {**part, key: given} if given is not None else {name: each for name, each in part.items() if name != key}


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
