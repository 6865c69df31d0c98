"""Values, inputs and schemas that are dropped, loosened or tightened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from stagec.change.mutation.mutant import (
    Mutant,
    change_act,
    change_node,
    change_schemas,
    list_edges,
    loosen,
    operator,
    tighten,
)
from stagec.core.place import Pointer, pointer_text
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.ir.plan import Plan
from stagec.ir.plan.act import (
    Act,
    Carried,
    Choice,
    Command,
    Converse,
    Each,
    Piece,
    Process,
    Prompt,
    Supply,
    Template,
    Text,
)
from stagec.ir.plan.gate import IntentGate
from stagec.ir.plan.node import Node, Schedule


@operator
def carried_dropped(plan: Plan) -> Iterator[Mutant]:
    """A node no longer keeps a value for others, or no longer reads a kept value."""
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


_INPUT_DROPPED_WANTED = "a text of 'prompts' that has to be there"


@operator
def input_dropped(plan: Plan) -> Iterator[Mutant]:
    """A prompt, a command or a process lacks one of its inputs."""
    for name, node in plan.nodes.items():
        for way, template, rebuild in _list_templates(node):
            for told, at, left in _drop_holes(template):
                nodes = {name: rebuild(left)}
                yield Mutant(name, ("nodes", name, *way, *at), f"{quote(name)}: {told}", _INPUT_DROPPED_WANTED, nodes)
        act = node.act
        inputs = act.inputs if isinstance(act, Process) else {}
        for key in inputs:
            rest = {each: given for each, given in inputs.items() if each != key}
            wanted = f"the 'inputs' of {quote(name)}"
            yield change_act(plan, name, ("inputs", key), f"the input {quote(key)} is dropped", wanted, inputs=rest)
    if plan.system is not None:
        for told, at, left in _drop_holes(plan.system.prompt):
            fields = {"system": replace(plan.system, prompt=left)}
            yield Mutant(
                None, ("system", "prompt", *at), f"the system prompt: {told}", _INPUT_DROPPED_WANTED, fields=fields
            )
        told = "the system prompt is gone"
        yield Mutant(None, ("system",), told, "a text of it in 'prompts'", fields={"system": None})


def _list_templates(node: Node) -> Iterator[tuple[Pointer, Template, Callable[[Template], Node]]]:
    """Yield every template of a node, where it is, and what makes the node with another one."""
    act, validation = node.act, node.validation
    if isinstance(act, Prompt | Converse) and act.prompt is not None:
        yield ("act", "prompt"), act.prompt, lambda left: replace(node, act=replace(act, prompt=left))
    for index, repeat in enumerate(act.repeats or () if isinstance(act, Prompt) else ()):
        others = partial(_replace_repeat, node, index)
        yield ("act", "repeats", index, "prompt"), repeat.prompt, others
    for index, word in enumerate(act.words if isinstance(act, Command) else ()):
        yield ("act", "words", index), word, partial(_replace_word, node, index)
    for pattern, prompt in (validation.prompts if validation is not None else {}).items():
        yield ("validation", "prompts", pattern), prompt, partial(_replace_refusal, node, pattern)


def _replace_repeat(node: Node, index: int, left: Template) -> Node:
    repeats = [*node.act.repeats] if isinstance(node.act, Prompt) and node.act.repeats else []
    repeats[index] = replace(repeats[index], prompt=left)
    return replace(node, act=replace(node.act, repeats=tuple(repeats)))


def _replace_word(node: Node, index: int, left: Template) -> Node:
    words = [*node.act.words] if isinstance(node.act, Command) else []
    words[index] = left
    return replace(node, act=replace(node.act, words=tuple(words)))


def _replace_refusal(node: Node, pattern: str, left: Template) -> Node:
    prompts = node.validation.prompts if node.validation is not None else {}
    return replace(node, validation=replace(node.validation, prompts={**prompts, pattern: left}))


def _drop_holes(template: Template) -> Iterator[tuple[str, Pointer, Template]]:
    """Yield the template once without each of its holes, with the kind and the place of the hole."""
    for index, piece in enumerate(template):
        if isinstance(piece, Text):
            continue
        path = quote(pointer_text(piece.path))
        name = (
            "the list of"
            if isinstance(piece, Each)
            else "what depends on"
            if isinstance(piece, Choice)
            else "the value"
        )
        yield f"{name} {path} is dropped", (index,), (*template[:index], *template[index + 1 :])
        for told, way, inner in _drop_inside(piece):
            yield told, (index, *way), (*template[:index], inner, *template[index + 1 :])


def _drop_inside(piece: Piece) -> Iterator[tuple[str, Pointer, Piece]]:
    if isinstance(piece, Each):
        for told, way, left in _drop_holes(piece.body):
            yield told, ("body", *way), replace(piece, body=left)
    elif isinstance(piece, Choice):
        for told, way, left in _drop_holes(piece.then):
            yield told, ("then", *way), replace(piece, then=left)
        for told, way, left in _drop_holes(piece.otherwise):
            yield told, ("otherwise", *way), replace(piece, otherwise=left)


@operator
def input_requirement(plan: Plan) -> Iterator[Mutant]:
    """A required input becomes optional, or an optional one required."""
    for name, given in plan.inputs.items():
        told = f"the input {quote(name)} is {'no longer required' if given.required else 'required'}"
        wanted = f"'unfit': inputs without {quote(name)}" if given.required else f"a run without {quote(name)}"
        changed = replace(given, required=not given.required, default=given.default if given.required else None)
        yield Mutant(None, ("inputs", name), told, wanted, fields={"inputs": {**plan.inputs, name: changed}})
        if given.default is not None:
            told, wanted = f"the input {quote(name)} has no default", f"a run without {quote(name)}, and its prompts"
            changed = replace(given, default=None)
            yield Mutant(None, ("inputs", name), told, wanted, fields={"inputs": {**plan.inputs, name: changed}})


_SCHEMA_LOOSENED_WANTED = "'refuses' or 'unfit': a value that is not allowed"


@operator
def schema_loosened(plan: Plan) -> Iterator[Mutant]:
    """A schema of answers or inputs allows more."""
    yield from change_schemas(plan, loosen, _SCHEMA_LOOSENED_WANTED)


_SCHEMA_TIGHTENED_WANTED = "a run with such a value, or 'accepts' or 'fit'"


@operator
def schema_tightened(plan: Plan) -> Iterator[Mutant]:
    """A schema of answers or inputs allows less."""
    yield from change_schemas(plan, tighten, _SCHEMA_TIGHTENED_WANTED)


@operator
def need_removed(plan: Plan) -> Iterator[Mutant]:
    """A stage no longer waits for another stage, and does not get its outputs."""
    for entry, begun in plan.entries.items():
        if isinstance(begun, Schedule):
            for node, need, schedule in _drop_needs(begun):
                fields = {"entries": {**plan.entries, entry: schedule}}
                yield _tell(plan, ("entries", entry, "needs", node), (node, need), fields, {})
    for name, number, edge in list_edges(plan):
        if isinstance(edge.target, Schedule):
            for node, need, schedule in _drop_needs(edge.target):
                edges = [*plan.nodes[name].edges]
                edges[number] = replace(edge, target=schedule)
                nodes = {name: replace(plan.nodes[name], edges=tuple(edges))}
                yield _tell(plan, ("nodes", name, "edges", number, "target", "needs", node), (node, need), {}, nodes)


def _drop_needs(schedule: Schedule) -> Iterator[tuple[str, str, Schedule]]:
    for node, needs in schedule.needs.items():
        for need in needs:
            rest = tuple(each for each in needs if each != need)
            yield node, need, Schedule({**schedule.needs, node: rest})


def _tell(
    plan: Plan, at: Pointer, pair: tuple[str, str], fields: Mapping[str, Any], nodes: Mapping[str, Node]
) -> Mutant:
    node, need = pair
    act = plan.nodes[node].act
    if isinstance(act, Process):
        inputs = {name: each for name, each in act.inputs.items() if each.node != need}
        if len(inputs) < len(act.inputs):
            changed = nodes.get(node, plan.nodes[node])
            nodes = {**nodes, node: replace(changed, act=replace(act, inputs=inputs))}
    told = f"{quote(node)} does not wait for {quote(need)}"
    wanted = f"a run in which {quote(need)} does not end as done, or the 'inputs' of {quote(node)}"
    return Mutant(None, at, told, wanted, nodes, fields)
