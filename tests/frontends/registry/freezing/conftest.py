"""Registries written in a few words, and the plans that are made of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Severity
from stagec.core.json import Json
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Piece, Template, Text
from stagec.languages.registry.freezing import RegistryTexts
from stagec.sources.project.settings import Settings
from stagec.sources.read import Sources

Shown = tuple[str | Piece, ...]


class Flows:
    """Writes registries into one folder and compiles them.

    A step is written as what is special about it: its prompt is there, and so is a schema that offers its intents, the
    keys of its transitions. `agent` changes members of an agent definition; there is none when it is None.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def plan(self, steps: Mapping[str, Any], **given: Any) -> Plan:
        """Return the plan of a registry, which must have no errors."""
        found = self.compile(steps, **given)
        assert [each.message for each in found.diagnostics if each.severity is Severity.ERROR] == []
        return found.meanings[0].plan()

    def compile(
        self,
        steps: Mapping[str, Any],
        agent: Mapping[str, Any] | None = None,
        files: Mapping[str, str] | None = None,
        **members: Json,
    ) -> Compilation:
        """Return what comes of a registry."""
        bodies = {key: {**_usual(key), **body} for key, body in steps.items()}
        written = {name: each for name, each in members.items() if name not in {"fields", "without"}}
        prompts = {f"prompts/steps/{each['c2']}/{each['c3']}/f_default.md": "Go." for each in bodies.values()}
        schemas = {key: _schema(each, members.get("fields")) for key, each in bodies.items()}
        entry = {} if "entryStepMapping" in written else {"entryStep": next(iter(steps))}
        registry = {"agentId": "demo", "version": "1.0.0", "c1": "steps", **entry, **written, "steps": bodies}
        texts = {**prompts, "schemas/s.json": json.dumps(schemas), "prompts/system.md": "Be brief.", **(files or {})}
        self._write(texts, str(members.get("without", "")))
        self._write({"steps_registry.json": json.dumps(registry)})
        if agent is not None:
            self._write({"agent.json": json.dumps(_agent(agent))})
        return compile_project(Project(self.root, (self.root,), Settings()))

    def _write(self, files: Mapping[str, str], without: str = "") -> None:
        for name, text in files.items():
            if name != without and not (without and name.startswith(f"{without}/")):
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                (self.root / name).write_text(text, encoding="utf-8")


def _usual(key: str) -> dict[str, Any]:
    phase, _, name = key.partition(".")
    return {"stepId": key, "name": key.title(), "c2": phase, "c3": name}


def _schema(step: dict[str, Any], fields: Json) -> Json:
    """Return a schema that offers the intents of a step, and give the step the gate that reads them."""
    transitions = step.get("transitions")
    if not isinstance(transitions, dict):
        return {"type": "object"}
    gate = {"allowedIntents": [*transitions], "intentSchemaRef": "#/properties/action", "intentField": "action"}
    step["structuredGate"] = {**gate, "handoffFields": [], **step.get("structuredGate", {})}
    step["outputSchemaRef"] = {"file": "s.json", "schema": step["stepId"]}
    more = fields if isinstance(fields, dict) else {}
    properties = {"action": {"enum": step["structuredGate"]["allowedIntents"]}, **more}
    return {"type": "object", "required": [*properties], "properties": properties}


def _agent(given: Mapping[str, Any]) -> Json:
    flow = {"systemPromptPath": "prompts/system.md", "prompts": {"registry": "steps_registry.json"}}
    runner = {
        "flow": {**flow, **given.get("flow", {})},
        "verdict": given.get("verdict", {"type": "poll:state", "config": {"maxIterations": 7}}),
        "boundaries": {"allowedTools": [], "permissionMode": "default", **given.get("boundaries", {})},
    }
    about = {"version": "1.0.0", "name": "demo", "displayName": "Demo", "description": "Shows."}
    kinds = {name: {"description": "It.", "cli": f"--{name}", **each} for name, each in given.get("takes", {}).items()}
    return {**about, "parameters": kinds, "runner": runner}


@pytest.fixture
def flows(tmp_path: Path) -> Flows:
    """Return what writes registries and compiles them."""
    return Flows(tmp_path)


@pytest.fixture
def texts(tmp_path: Path) -> RegistryTexts:
    """Return texts of which there are none yet."""
    return RegistryTexts(Sources(tmp_path, Budgets()))


@pytest.fixture
def shown() -> Callable[[Template | None, Mapping[str, str]], Shown | None]:
    """Return what shows a template with its texts in the place of their names."""
    return _shown


def _shown(template: Template | None, contents: Mapping[str, str]) -> Shown | None:
    if template is None:
        return None
    return tuple(contents[piece.content] if isinstance(piece, Text) else piece for piece in template)
