"""The promises of a plan beyond the form of its parts: in no run does the next node lack a definition."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping

from stagec.core.place import Key, Pointer, pointer_text
from stagec.core.value import value
from stagec.core.words import listing, quote
from stagec.ir.plan.act import Act, Command, Converse, Delegate, Process, Prompt, Repeat, Rest, Scope, Template, strays
from stagec.ir.plan.agents import Flaw, find_phase_flaws, find_schedule_flaws, list_phase_outcomes
from stagec.ir.plan.document import Plan
from stagec.ir.plan.facts import cycles
from stagec.ir.plan.gate import AgentGate, ExitGate, Gate, IntentGate, JudgeGate, RestGate, StageGate, VerdictGate
from stagec.ir.plan.node import ForEach, Fork, Named, Node, Pick
from stagec.ir.plan.references import find_reached

Flaws = list[Flaw]
"""Where in a plan promises are broken, and how."""

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
    """Return the outcomes that a gate has as far as the plan alone can tell; checks may leave no result that is ok."""
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
