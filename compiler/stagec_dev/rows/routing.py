"""Outputs of steps with what upstream's own gate and router made of them, answered by stagec's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from stagec.core.canonical import as_text
from stagec.core.json import Json, object_of
from stagec.plan.gate import IntentGate
from stagec.plan.node import Go, Stop
from stagec.runtime import gate as gates
from stagec.runtime.program import Program, choose, program_of
from stagec_dev.compiling import plans
from stagec_dev.row import Agreement, Row, RowKind

_CLOSING = frozenset({"closing", "abort"})


def _claims(file: str) -> bool:
    return file == "routing/routing.json"


def _rows(root: Path, file: str) -> Iterable[Row]:
    for each in json.loads((root / file).read_bytes())["rows"]:
        yield Row(f"{file}, {_group(root, each)}", str(each["id"]), each)


def _group(root: Path, given: Mapping[str, Any]) -> str:
    """Return the intent that an output asks for, and the kind of transition that its step has for it."""
    found = gates.ALIASES.get(said := _read_action(given["output"]), said)
    intent = found if found in _INTENTS else "no intent"
    transition = object_of(_transitions(root / given["agent"]).get(given["stepId"])).get(intent)
    if not isinstance(transition, dict):
        return f"{intent}, no transition"
    return f"{intent}, {'conditional' if 'targets' in transition else 'simple'}"


_INTENTS = frozenset({"next", "repeat", "jump", "handoff", "closing", "escalate", "abort"})


def _read_action(output: Json) -> str:
    action = object_of(object_of(output).get("next_action")).get("action")
    return as_text(action).lower()


@cache
def _transitions(agent: Path) -> Mapping[str, Json]:
    steps = json.loads((agent / "steps_registry.json").read_bytes())["steps"]
    return {name: each.get("transitions") for name, each in steps.items()}


@cache
def _program(agent: Path) -> Program:
    (plan,) = plans(agent)
    return program_of(plan)


def _answer(root: Path, row: Row) -> Json:
    program, name = _program(root / str(row.given["agent"])), str(row.given["stepId"])
    node = program.plan.nodes.get(name)
    if node is None or not isinstance(node.gate, IntentGate):
        return {"phase": "start", "error": "no such node"}
    output = row.given["output"]
    intent = gates.read_intent(node.gate, output)
    if intent is None:
        return {"phase": "gate", "error": "no allowed intent"}
    handoff = gates.read_handoff(node.gate, output)
    result = {"answer": output, "handoff": handoff}
    target = choose(program.routes[name].get(intent, ()), result, gates.read_target(node.gate, output))
    told: dict[str, Json] = {"intent": intent, **({"handoff": handoff} if handoff else {})}
    if isinstance(target, Go):
        return {**told, "next": target.node, "signalClosing": False}
    if isinstance(target, Stop) or intent == gates.ABORT:
        return {**told, "next": row.given["stepId"], "signalClosing": True}
    return {"phase": "route", "error": "no edge"}


def _compare(row: Row, got: Any) -> Agreement:
    wanted, note = dict(row.given["upstream"]), str(row.given["note"] or "")
    if note.startswith("R1:"):
        wanted = {"intent": gates.ABORT}
    elif note.startswith("R15"):
        wanted = {"phase": "gate"}
    elif note.startswith("R18"):
        wanted = {"phase": "start"}
    elif note.startswith("R3"):
        wanted.pop("next")
    compared = {key: each for key, each in wanted.items() if key in _COMPARED}
    return Agreement.AGREE if all(got.get(key) == each for key, each in compared.items()) else Agreement.DISAGREE


_COMPARED = frozenset({"phase", "intent", "handoff", "next", "signalClosing"})

ROUTING = RowKind(_claims, _rows, _answer, _compare)
