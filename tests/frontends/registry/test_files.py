"""Which files make up a registry, wherever it lies and whatever it is called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.json import Json
from stagec.ir.plan.node import Go, Outcome, Stop
from stagec.sources.project.settings import Settings

STEP = {"stepId": "initial.a", "name": "A", "c2": "initial", "c3": "a", "stepKind": "closure"}
REGISTRY: dict[str, Json] = {
    "agentId": "demo",
    "version": "1.0.0",
    "c1": "steps",
    "entryStep": "initial.a",
    "steps": {"initial.a": STEP},
}


def _agent(registry: str) -> Json:
    return {"runner": {"flow": {"prompts": {"registry": registry}}}}


def _compile(root: Path, files: dict[str, Json], *paths: str) -> Compilation:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content if isinstance(content, str) else json.dumps(content))
    return compile_project(Project(root, tuple(root / path for path in paths), Settings()))


def _kinds(found: Compilation) -> dict[str, str]:
    return {file: tree.kind for file, tree in found.trees.items()}


def test_a_registry_is_found_in_any_folder_with_all_that_lies_beside_it(tmp_path: Path) -> None:
    files: dict[str, Json] = {
        ".agent/demo/steps_registry.json": REGISTRY,
        ".agent/demo/agent.json": _agent("steps_registry.json"),
        ".agent/demo/schemas/deep/a.schema.json": {},
        ".agent/demo/prompts/steps/initial/a/f_default.md": "Hello",
        ".agent/demo/notes.md": "not part of it",
    }
    assert _kinds(_compile(tmp_path, files)) == {
        ".agent/demo/steps_registry.json": "registry",
        ".agent/demo/agent.json": "agent",
        ".agent/demo/schemas/deep/a.schema.json": "schema",
        ".agent/demo/prompts/steps/initial/a/f_default.md": "prompt",
    }


def test_an_agent_definition_may_name_another_registry(tmp_path: Path) -> None:
    files: dict[str, Json] = {"x/agent.json": _agent("flows/main.json"), "x/flows/main.json": REGISTRY}
    found = _compile(tmp_path, files)
    assert _kinds(found) == {"x/agent.json": "agent", "x/flows/main.json": "registry"}
    assert [flow.id for flow in found.flows] == ["demo"]


def test_another_system_s_agent_json_is_left_alone(tmp_path: Path) -> None:
    assert _kinds(_compile(tmp_path, {"x/agent.json": {"model": "large"}})) == {}


def test_an_agent_json_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    found = _compile(tmp_path, {"x/agent.json": "{"})
    assert [each.at.file for each in found.diagnostics] == ["x/agent.json"]


def test_a_file_named_by_hand_is_known_by_what_it_says(tmp_path: Path) -> None:
    found = _compile(tmp_path, {"flow.json": REGISTRY}, "flow.json")
    assert [flow.id for flow in found.flows] == ["demo"]


def test_a_registry_named_by_hand_brings_its_agent_definition(tmp_path: Path) -> None:
    files: dict[str, Json] = {"steps_registry.json": REGISTRY, "agent.json": _agent("steps_registry.json")}
    assert _kinds(_compile(tmp_path, files, "steps_registry.json")).keys() == {"agent.json", "steps_registry.json"}


@pytest.mark.parametrize("folder", ["", ".agent/demo/"])
def test_schemas_base_counts_from_the_project_or_from_the_part_stagec_was_run_on(tmp_path: Path, folder: str) -> None:
    schema = {"outputSchemaRef": {"file": "a.json", "schema": "x"}}
    registry = {**REGISTRY, "schemasBase": ".agent/demo/schemas", "steps": {"initial.a": {**STEP, **schema}}}
    files: dict[str, Json] = {
        f"{folder}steps_registry.json": registry,
        f"{folder}schemas/a.json": {"x": {"type": "object"}},
    }
    files |= {f"{folder}prompts/steps/initial/a/f_default.md": "Hello"}
    assert [each.message for each in _compile(tmp_path, files).diagnostics] == []


def test_registries_that_share_a_folder_of_schemas_report_its_faults_once(tmp_path: Path) -> None:
    registry = {**REGISTRY, "schemasBase": "schemas"}
    files: dict[str, Json] = {
        "one/steps_registry.json": registry,
        "two/steps_registry.json": registry,
        "schemas/a.json": {"x": {"$ref": "#/gone"}},
        "one/prompts/steps/initial/a/f_default.md": "Hello",
        "two/prompts/steps/initial/a/f_default.md": "Hello",
    }
    assert [each.code for each in _compile(tmp_path, files).diagnostics] == ["STG214"]


def test_a_broken_part_never_hides_the_rest(tmp_path: Path) -> None:
    lost = {**REGISTRY, "entryStep": "b"}
    files: dict[str, Json] = {
        "one/steps_registry.json": "{",
        "two/steps_registry.json": lost,
        "two/prompts/steps/initial/a/f_default.md": "Hello",
    }
    assert [(each.code, each.at.file) for each in _compile(tmp_path, files).diagnostics] == [
        ("STG106", "one/steps_registry.json"),
        ("STG203", "two/steps_registry.json"),
    ]


def test_the_flow_has_a_node_for_every_step_but_sections(tmp_path: Path) -> None:
    steps: dict[str, Json] = {
        "initial.x": {"stepId": "initial.x", "name": "X", "c2": "initial", "c3": "x"},
        "continuation.x": {"stepId": "continuation.x", "name": "X", "c2": "continuation", "c3": "x"},
        "section.x": {"stepId": "section.x", "name": "X", "c2": "section", "c3": "x"},
    }
    (flow,) = _compile(tmp_path, {"steps_registry.json": {**REGISTRY, "entryStep": "initial.x", "steps": steps}}).flows
    assert list(flow.nodes) == ["initial.x", "continuation.x"]
    assert [(edge.on, edge.target) for edge in flow.nodes["initial.x"].edges] == [
        ("next", Go("continuation.x")),
        ("verdict", Stop(Outcome.DONE)),
    ]
