"""A step registry of an agent with everything that belongs to it, as large as is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from stagec.core.json import Json
from stagec.core.value import NOTHING
from stagec_dev.cost import Files

CLOSURE = "closure.last"


def step(
    name: str,
    following: str | None = None,
    intents: tuple[str, ...] = ("next", "handoff"),
    schema: str = "step",
    **members: Any,
) -> dict[str, Any]:
    """Return a step of work that leads on to another one and can hand off to the closure."""
    targets = {"next": following or name, "handoff": CLOSURE, "repeat": name, "jump": following or name}
    gate = {
        "allowedIntents": list(intents),
        "intentSchemaRef": "#/properties/action",
        "intentField": "action",
        "handoffFields": ["found"],
        **members.pop("gate", {}),
    }
    return {
        "stepId": name,
        "name": name,
        "type": "prompt",
        "stepKind": "work",
        "c2": "initial",
        "c3": "all",
        "edition": "default",
        "uvVariables": [],
        "usesStdin": False,
        "outputSchemaRef": {"file": "all.schema.json", "schema": schema},
        "structuredGate": gate,
        "transitions": {intent: {"target": targets[intent]} for intent in intents if intent in targets},
        **members,
    }


def closure(**members: Any) -> dict[str, Any]:
    """Return the step at which runs complete."""
    ending = {"closing": {"target": None}, "repeat": {"target": CLOSURE}}
    made = step(
        CLOSURE, intents=("closing", "repeat"), schema="closure", stepKind="closure", c2="closure", transitions=ending
    )
    del made["structuredGate"]["handoffFields"]
    return {**made, **members}


def answer(*intents: str, **properties: Json) -> dict[str, Any]:
    """Return the schema of an answer."""
    own: dict[str, Json] = {"found": {"type": "string"}, **properties}
    return {
        "type": "object",
        "properties": {"action": {"type": "string", "enum": list(intents)}, **own},
        "required": ["action", *own],
        "additionalProperties": False,
    }


def chain(count: int, **members: Any) -> dict[str, Any]:
    """Return so many steps of work, each leading to the next one."""
    names = [f"initial.s{at}" for at in range(count)]
    return {name: step(name, following, **members) for name, following in zip(names, [*names[1:], None], strict=True)}


def registry(
    steps: Mapping[str, Any],
    definitions: Mapping[str, Any] = NOTHING,
    agent: Mapping[str, Any] = NOTHING,
    **members: Any,
) -> Files:
    """Return the files of an agent; the closure and the schemas of steps are added where they are not given."""
    known = {"step": answer("next", "handoff"), "closure": answer("closing", "repeat"), **definitions}
    body = {
        "agentId": "large",
        "version": "1.0.0",
        "c1": "steps",
        "pathTemplate": "{c1}/{c2}/{c3}/f_{edition}_{adaptation}.md",
        "pathTemplateNoAdaptation": "{c1}/{c2}/{c3}/f_{edition}.md",
        "entryStepMapping": {"poll:state": next(iter(steps), CLOSURE)},
        "steps": {**steps, **({} if CLOSURE in steps else {CLOSURE: closure()})},
        **members,
    }
    return {
        "agent.json": json.dumps(definition(**agent), indent=1),
        "steps_registry.json": json.dumps(body, indent=1),
        "schemas/all.schema.json": json.dumps({"$defs": known}, indent=1),
        "prompts/system.md": "You are an agent.\n",
        "prompts/steps/initial/all/f_default.md": "Do it.\n",
        "prompts/steps/closure/all/f_default.md": "Finish it.\n",
    }


def definition(given: Mapping[str, Any] = NOTHING, tools: tuple[str, ...] = ("Read",)) -> dict[str, Any]:
    """Return an agent definition."""
    return {
        "version": "1.0.0",
        "name": "large",
        "displayName": "Large",
        "description": "Made for measuring",
        "parameters": dict(given),
        "runner": {
            "flow": {"systemPromptPath": "prompts/system.md", "prompts": {"registry": "steps_registry.json"}},
            "verdict": {"type": "poll:state", "config": {"maxIterations": 40, "resourceType": "github-issue"}},
            "boundaries": {"allowedTools": list(tools), "permissionMode": "acceptEdits"},
        },
    }


def parameters(names: Iterable[str]) -> dict[str, Json]:
    """Return parameters of an agent with these names."""
    return {name: {"type": "string", "description": name, "required": True, "cli": f"--{name}"} for name in names}


def word(number: int) -> str:
    """Return a word of lower-case letters for a number."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))
