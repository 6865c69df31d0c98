"""The promises of a plan beyond the form of its parts: its references, and that every next node is defined."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping

from stagec.core.place import Key, Pointer, pointer_text
from stagec.core.value import value
from stagec.core.words import listing, quote
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
    Scope,
    Supply,
    Template,
    Text,
    inside,
    strays,
)
from stagec.ir.plan.agents import Flaw, find_phase_flaws, find_schedule_flaws, list_phase_outcomes
from stagec.ir.plan.document import Plan
from stagec.ir.plan.facts import cycles
from stagec.ir.plan.gate import AgentGate, ExitGate, Gate, IntentGate, JudgeGate, RestGate, StageGate, VerdictGate
from stagec.ir.plan.node import ForEach, Fork, Named, Node, Pick, Schedule, Stop, Target, list_begun, list_targets

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


Flaws = list[Flaw]
"""Broken promises of a plan, with their places."""


_JUDGED: Mapping[type[Act], Collection[type[Gate]]] = {
    Prompt: (IntentGate, JudgeGate),
    Converse: (VerdictGate,),
    Command: (ExitGate,),
    Process: (StageGate,),
    Delegate: (AgentGate,),
    Rest: (RestGate,),
}
"""The gates that can judge what comes of an act."""
_ABORT = "abort"
"""The intent that needs no edge: it ends the run as failed."""
_CONTEXT: Scope = {"ctx": None}
_INPUT: Scope = {"input": None}
_FAILURE: Scope = {"failure": None}
_HANDED: Scope = {"answer": None, "handoff": None}


def unsound(plan: Plan) -> Flaws:
    """Return every promise that a plan breaks; linear."""
    found: Flaws = []
    finder = _FlawFinder(found)
    for name, node in plan.nodes.items():
        at = ("nodes", name)
        finder.look_at_routes(node, at)
        finder.look_at_act(node.act, at)
        for outcome, comment in node.act.comments.items() if isinstance(node.act, Delegate) else ():
            finder.look_at_template(comment, _HANDED, (*at, "act", "comments", outcome))
        if node.validation is not None:
            for pattern, prompt in node.validation.prompts.items():
                finder.look_at_template(prompt, _FAILURE, (*at, "validation", "prompts", pattern))
    finder.look_around(plan)
    found.extend(find_schedule_flaws(plan))
    found.extend(find_phase_flaws(plan))
    if plan.limits.executions is None:
        begun = frozenset(find_reached(plan))
        endless = (each for each in cycles(plan) if not begun.isdisjoint(each))
        found.extend((("limits",), f"lacks 'executions', but {listing(each)} can repeat") for each in endless)
    return found


@value
class _FlawFinder:
    """Collects the promises that a plan breaks."""

    found: Flaws

    def look_at_routes(self, node: Node, at: Pointer) -> None:
        """Look whether a gate can judge its act, each outcome that it surely has has an edge, and each can be taken."""
        gate = node.gate
        if type(gate) not in _JUDGED[type(node.act)]:
            self.found.append(((*at, "gate"), "cannot judge what comes of this act"))
        told = {edge.on for edge in node.edges}
        missing = [each for each in _outcomes(gate) if each not in told and each != _ABORT]
        if missing:
            self.found.append(((*at, "edges"), f"has none for {listing(missing, 'or')}"))
        if type(gate) is IntentGate and not gate.fail_fast and gate.fallback not in gate.intents:
            self.found.append(((*at, "gate"), "has no 'fallback' among its 'intents', and is not to fail"))
        for index, edge in enumerate(node.edges):
            if edge.wait and type(edge.target) is Stop:
                self.found.append(((*at, "edges", index, "wait"), "comes before an end, where nothing waits for it"))
            if isinstance(edge.target, Fork | ForEach):
                self._look_at_fork(edge.target, (*at, "edges", index, "target"))
            elif isinstance(edge.target, Named | Pick) and (type(gate) is not IntentGate or gate.target is None):
                self.found.append(
                    ((*at, "edges", index, "target"), "is left to the answer, but the gate reads no 'target'")
                )

    def _look_at_fork(self, fork: Fork | ForEach, at: Pointer) -> None:
        """Look whether the nodes of a scope are different ones, and what joins them is another one."""
        if len({*fork.nodes}) < len(fork.nodes):
            self.found.append(((*at, "nodes"), "has a node twice"))
        if fork.join in fork.nodes:
            self.found.append(((*at, "join"), "is one of the nodes that it joins"))

    def look_at_act(self, act: Act, at: Pointer) -> None:
        """Look whether all that an act is made of can be supplied: variables it needs, and what its holes lead to."""
        if type(act) is Prompt:
            repeats = ((("repeats", index), each) for index, each in enumerate(act.repeats or ()))
            every: list[tuple[Pointer, Prompt | Repeat]] = [((), act), *repeats]
            for way, asked in every:
                missing = [each for each in act.needed if each not in asked.variables]
                if missing:
                    self.found.append(((*at, "act", "needed"), f"has {listing(missing)}, and 'variables' do not"))
                if asked.prompt is not None:
                    self.look_at_template(asked.prompt, _find_asked(asked.variables), (*at, "act", *way, "prompt"))
        elif type(act) is Converse:
            self.look_at_template(act.prompt, _CONTEXT, (*at, "act", "prompt"))
        elif type(act) is Command:
            for index, word in enumerate(act.words):
                self.look_at_template(word, _INPUT, (*at, "act", "words", index))

    def look_at_template(self, template: Template, scope: Scope, at: Pointer) -> None:
        """Look whether every hole of a template leads to where its scope may have something."""
        for path in strays(template, scope):
            self.found.append((at, f"leads to {quote(pointer_text(path))}, where there never is anything"))

    def look_around(self, plan: Plan) -> None:
        """Look whether what nodes need around them can be had: variables of the system prompt, tools and servers."""
        if plan.system is not None:
            self.look_at_template(plan.system.prompt, _find_asked(plan.system.variables), ("system", "prompt"))
        for name, tool in plan.tools.items():
            if (tool.origin == "mcp") != (tool.server is not None):
                self.found.append((("tools", name), "must have a 'server' if its 'origin' is 'mcp', and only then"))
            if tool.command and tool.server is not None:
                self.found.append((("tools", name), "has a 'command', though its server carries calls out"))
        for name, server in plan.servers.items():
            if server.command is None and server.url is None:
                self.found.append((("servers", name), "has neither 'command' nor 'url'"))


def _outcomes(gate: Gate) -> tuple[str, ...]:
    """Return the outcomes of a gate that the plan alone shows; checks may exclude every result that is ok."""
    match gate:
        case IntentGate():
            return gate.intents
        case VerdictGate():
            return ("fail",) if gate.checks else ("ok", "fail")
        case JudgeGate():
            return ("next", "verdict")
        case ExitGate():
            return ("closing", "repeat")
        case StageGate():
            return ("success", "failure", "interrupted")
        case AgentGate() | RestGate():
            return list_phase_outcomes(gate)


def _find_asked(variables: Container[Key]) -> Scope:
    return {"variable": variables, "stdin": None}
