"""What the parts of a plan refer to, what of it is missing, and which nodes runs come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stagec.ir.plan.act import (
    Act,
    Carried,
    Command,
    Converse,
    Delegate,
    Process,
    Prompt,
    Repeat,
    Rest,
    Supply,
    Template,
    Text,
    inside,
)
from stagec.ir.plan.document import Plan
from stagec.ir.plan.node import Pick, Schedule, Target, list_begun, list_targets

Reference = tuple[str, str]
"""The table of the plan in which something is looked up (`nodes`, `contents`, …), and the name."""


def dangling(plan: Plan) -> Iterator[Reference]:
    """Yield every reference to something that a plan does not contain, once each."""
    tables = {
        "nodes": plan.nodes,
        "contents": plan.contents,
        "validators": plan.validators,
        "tools": plan.tools,
        "servers": plan.servers,
        "entries": plan.entries,
        "choices": plan.choices,
        "plans": plan.plans,
    }
    for table, name in dict.fromkeys(_references(plan)):
        if name not in tables[table]:
            yield table, name


def find_reached(plan: Plan) -> tuple[str, ...]:
    """Return the nodes that some entry leads to, as runs come to them; linear."""
    found = dict.fromkeys(node for entry in plan.entries.values() for node in list_begun(entry))
    todo, left = list(found), dict(plan.choices)
    for name in todo:  # grows while it is walked
        for edge in plan.nodes[name].edges:
            shared = left.pop(edge.target.choices, {}) if type(edge.target) is Pick else {}
            fresh = [
                each for each in dict.fromkeys((*list_targets(edge.target), *shared.values())) if each not in found
            ]
            found |= dict.fromkeys(fresh)
            todo.extend(fresh)
    return tuple(found)


def _references(plan: Plan) -> Iterator[Reference]:
    for entry in plan.entries.values():
        yield from [("nodes", entry)] if isinstance(entry, str) else _of_target(entry)
    yield from (("nodes", node) for nodes in plan.choices.values() for node in nodes.values())
    if plan.entry is not None:
        yield "entries", plan.entry
    for node in plan.nodes.values():
        yield from _of_act(node.act)
        yield from (found for edge in node.edges for found in _of_target(edge.target))
        if node.validation is not None:
            yield from (("validators", each.validator) for each in node.validation.checked)
            for template in node.validation.prompts.values():
                yield from _of_template(template)
    yield from _contents(*(each.schema for each in plan.inputs.values()), *plan.plans.values())
    yield from (("nodes", name) for name in (plan.phases.labels if plan.phases is not None else ()))
    yield from _contents(*(each.schema for each in plan.tools.values()))
    yield from (("servers", each.server) for each in plan.tools.values() if each.server is not None)
    if plan.system is not None:
        yield from _of_template(plan.system.prompt)
        yield from _of_variables(plan.system.variables.values())


def _of_target(target: Target) -> Iterator[Reference]:
    yield from (("nodes", name) for name in list_targets(target))
    if type(target) is Pick:
        yield "choices", target.choices
    elif type(target) is Schedule:
        yield from (("nodes", name) for needed in target.needs.values() for name in needed)


def _of_act(act: Act) -> Iterator[Reference]:
    match act:
        case Prompt():
            asked: tuple[Prompt | Repeat, ...] = (act, *(act.repeats or ()))
            for each in asked:
                yield from _of_template(each.prompt or ())
                yield from _of_variables(each.variables.values())
            yield from _contents(act.schema)
            yield from (("tools", tool) for tool in act.tools or ())
        case Converse():
            yield from _of_template(act.prompt)
            yield from _contents(act.schema, act.accepts)
            yield from (("tools", tool) for tool in act.tools)
        case Command():
            yield from (found for word in act.words for found in _of_template(word))
        case Process():
            yield from (("nodes", each.node) for each in act.inputs.values() if each.node is not None)
        case Delegate():
            yield "plans", act.agent
            yield from (found for comment in act.comments.values() for found in _of_template(comment))
        case Rest():
            pass


def _of_template(template: Template) -> Iterator[Reference]:
    todo = [*template]
    for piece in todo:  # grows while it is walked
        if isinstance(piece, Text):
            yield "contents", piece.content
        todo.extend(inside(piece))


def _of_variables(supplies: Iterable[Supply]) -> Iterator[Reference]:
    yield from (("nodes", each.node) for each in supplies if isinstance(each, Carried))


def _contents(*names: str | None) -> Iterator[Reference]:
    yield from (("contents", name) for name in names if name is not None)
