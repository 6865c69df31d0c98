"""A prompt, a command or a process lacks one of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from stagec.core.place import Pointer, pointer_text
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.mutation.mutant import Mutant, change_act, operator
from stagec.plan import Plan
from stagec.plan.act import Command, Converse, Process, Prompt
from stagec.plan.node import Node
from stagec.plan.template import Choice, Each, Piece, Template, Text

_WANTED = "a text of 'prompts' that has to be there"


@operator
def mutate(plan: Plan) -> Iterator[Mutant]:
    """Drop each hole, each repeated and each conditional piece of each template, and each input of each process."""
    for name, node in plan.nodes.items():
        for way, template, rebuild in _list_templates(node):
            for told, at, left in _drop(template):
                nodes = {name: rebuild(left)}
                yield Mutant(name, ("nodes", name, *way, *at), f"{quote(name)}: {told}", _WANTED, nodes)
        act = node.act
        inputs = act.inputs if isinstance(act, Process) else {}
        for key in inputs:
            rest = {each: given for each, given in inputs.items() if each != key}
            wanted = f"the 'inputs' of {quote(name)}"
            yield change_act(plan, name, ("inputs", key), f"the input {quote(key)} is dropped", wanted, inputs=rest)
    if plan.system is not None:
        for told, at, left in _drop(plan.system.prompt):
            fields = {"system": replace(plan.system, prompt=left)}
            yield Mutant(None, ("system", "prompt", *at), f"the system prompt: {told}", _WANTED, fields=fields)
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


def _drop(template: Template) -> Iterator[tuple[str, Pointer, Template]]:
    """Yield a template without each of its pieces that are not text, with what that is and where it was."""
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
        for told, way, left in _drop(piece.body):
            yield told, ("body", *way), replace(piece, body=left)
    elif isinstance(piece, Choice):
        for told, way, left in _drop(piece.then):
            yield told, ("then", *way), replace(piece, then=left)
        for told, way, left in _drop(piece.otherwise):
            yield told, ("otherwise", *way), replace(piece, otherwise=left)
