"""Requests as the JSON objects of `docs/world-protocol.md`, with everything that an answer needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, get_args

from stagec.core.json import Json, Object
from stagec.core.value import tag_of, value
from stagec.ir.plan.act import Converse, Policy, Prompt
from stagec.ir.plan.codec import write
from stagec.ir.plan.document import Plan
from stagec.ir.policies import NodePolicy
from stagec.runtime.machine.acts.conversation_state import messages_to_json
from stagec.runtime.machine.exchange import (
    Ask,
    Call,
    Effect,
    Execute,
    Grant,
    Turn,
    read_key,
)


@value
class ToolDefinition:
    """The definition of a tool for a model; `schema` is the JSON Schema of its arguments, None if unknown."""

    name: str
    description: str = ""
    schema: Json = None
    effects: str = "unknown"
    origin: str = "unknown"


class Definitions(Protocol):
    """The definitions of tools by name."""

    def define(self, names: Iterable[str]) -> tuple[ToolDefinition, ...]:
        """Return the definitions of tools in the order of their names, leaving out those that are not there."""


class PlannedTools:
    """The tools of a plan as far as the plan itself knows them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def define(self, names: Iterable[str]) -> tuple[ToolDefinition, ...]:
        """Return the definition of every name; a tool that the plan does not list has no schema."""
        return tuple(map(self._define, names))

    def _define(self, name: str) -> ToolDefinition:
        tool = self._plan.tools.get(name)
        if tool is None:
            return ToolDefinition(name)
        schema = None if tool.schema is None else json.loads(self._plan.contents[tool.schema])
        return ToolDefinition(name, tool.description or "", schema, tool.effects, tool.origin)


def dump_request(plan: Plan, effect: Effect, tools: Definitions | None = None) -> Object:
    """Return a request as a JSON object: its kind, its subject, and what an answer needs."""
    key = read_key(effect.key)
    about: dict[str, Json] = {"is": KINDS[type(effect)], "key": effect.key, "node": key.node, "visit": key.visit}
    details = _DETAILS.get(type(effect), _dump_members)(plan, effect, PlannedTools(plan) if tools is None else tools)
    return {**about, "attempt": key.attempt, **details}


def _dump_ask(plan: Plan, effect: Ask, tools: Definitions) -> Object:
    return {
        "prompt": effect.prompt,
        "system": effect.system,
        "schema": read_schema(plan, effect.schema),
        "complaint": effect.complaint,
        "tools": None if effect.tools is None else _describe_tools(tools, effect.tools),
        "model": effect.model,
        "permission": effect.permission,
        **_dump_policy(plan, effect),
    }


def _dump_policy(plan: Plan, effect: Ask | Turn) -> Object:
    """Return how the plan asks the model, if it says anything."""
    policy = find_asking(plan, effect.key).written
    return {} if policy is None else {"policy": write(policy)}


def find_asking(plan: Plan, key: str) -> NodePolicy:
    """Return the settings in a plan of the model for a request; none for an unknown node."""
    node = plan.nodes.get(read_key(key).node)
    act = None if node is None else node.act
    return NodePolicy(act.model, act.policy or Policy()) if isinstance(act, Prompt | Converse) else NodePolicy()


def _dump_turn(plan: Plan, effect: Turn, tools: Definitions) -> Object:
    act = plan.nodes[read_key(effect.key).node].act
    completion = define_completion(plan, effect)
    return {
        "messages": messages_to_json(effect.transcript),
        "opening": OPENING.format(effect.completion),
        "tools": _describe_tools(tools, effect.tools),
        "completion": {"name": completion.name, "description": completion.description, "schema": completion.schema},
        "turns": act.turns if isinstance(act, Converse) else None,
        **_present(model=find_asking(plan, effect.key).model),
        **_dump_policy(plan, effect),
    }


def define_completion(plan: Plan, effect: Turn) -> ToolDefinition:
    """Return the completion tool of a conversation, as a model is told of it."""
    return ToolDefinition(effect.completion, _COMPLETION, read_schema(plan, effect.schema))


OPENING = "Begin. Call {} alone when you are done."
"""The first message of the user in a conversation: providers ask for one, and the transcript begins without."""
_COMPLETION = "Hand in the result. Call it alone, once, when the work is done."


def _dump_call(_plan: Plan, effect: Call, tools: Definitions) -> Object:
    (tool, *_) = (*_describe_tools(tools, (effect.tool,)), None)
    return {"tool": effect.tool, "arguments": effect.arguments, "call": effect.id, "definition": tool}


def _dump_grant(_plan: Plan, effect: Grant, tools: Definitions) -> Object:
    (tool, *_) = (*_describe_tools(tools, (effect.tool,)), None)
    return {
        "execution": effect.execution,
        "proposal": effect.proposal,
        "tool": effect.tool,
        "digest": effect.digest,
        "arguments": effect.arguments,
        "summary": effect.summary,
        "definition": tool,
    }


def _dump_execute(_plan: Plan, effect: Execute, _tools: Definitions) -> Object:
    inputs: dict[str, Json] = {
        name: _present(node=each.node, path=each.path, url=each.url) for name, each in effect.inputs.items()
    }
    return {
        "words": list(effect.words),
        "inputs": inputs,
        "outputs": dict(effect.outputs),
        "limits": write(effect.limits),
    }


def _describe_tools(tools: Definitions, names: Iterable[str]) -> list[Json]:
    return [describe_tool(each) for each in tools.define(names)]


def describe_tool(tool: ToolDefinition) -> Object:
    """Return a definition as JSON."""
    return {
        "name": tool.name,
        "description": tool.description,
        "schema": tool.schema,
        "effects": tool.effects,
        "origin": tool.origin,
    }


def _present(**members: Json) -> Object:
    return {name: each for name, each in members.items() if each is not None}


def read_schema(plan: Plan, content: str | None) -> Json:
    """Return the JSON Schema in a content of a plan; nothing where none is asked for."""
    return None if content is None else json.loads(plan.contents[content])


def _dump_members(_plan: Plan, effect: Effect, _tools: Definitions) -> Object:
    """Return all that a request itself says; `dump_request` has said which one it is, and of which node."""
    return {name: _plain(getattr(effect, name)) for name in type(effect).__match_args__ if name not in _SAID}


_SAID = frozenset({"key", "node"})


def _plain(given: Json | tuple[Json, ...]) -> Json:
    """Return a member of a request as JSON has it."""
    if isinstance(given, tuple):
        return list(given)
    return dict(given) if isinstance(given, Mapping) else given


KINDS: Mapping[type[Effect], str] = {kind: str(tag_of(kind)) for kind in get_args(Effect)}
"""The name of each kind of request outside of this process."""

_DETAILS: Mapping[type[Effect], Callable[..., Object]] = {
    Ask: _dump_ask,
    Turn: _dump_turn,
    Call: _dump_call,
    Grant: _dump_grant,
    Execute: _dump_execute,
}
"""The forms of requests that are not just the members of the class."""
