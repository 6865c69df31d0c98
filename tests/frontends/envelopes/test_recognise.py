"""Which files are taken for stage plans and envelopes, and which are left alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frontends.envelopes.conftest import envelope

from stagec.check.pipeline import Compilation

STAGE = envelope("S01_load_data", inputs={})
OTHER = envelope("S02_clean_data", "S01_load_data")
YAML = "- stageId: S01_load_data\n  goal: Load the wine dataset\n  inputs: {}\n  outputs: {}\n  maxDurationSec: 60\n"

Validate = Callable[..., Compilation]


def files_of(found: Compilation) -> set[str]:
    return set(found.trees)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("plan.json", {"stages": [STAGE, OTHER]}),
        ("deep/inside/any-name.json", [STAGE, OTHER]),
        ("S01_load_data.json", STAGE),
        ("plan.yaml", YAML),
        ("plan.yml", f"reportTitle: wine\nstages:\n{YAML}"),
        ("quoted.yaml", YAML.replace("stageId", "'stageId'").replace("goal", '"goal"')),
        ("flow.yaml", '[{stageId: "S01_load_data", goal: "Load the wine dataset"}]'),
        ("one-line.json", json.dumps(STAGE, separators=(",", ":"))),
        ("remarked.yaml", f"# A plan of stages.\n{'# ' + 'x' * 70 + chr(10)}{YAML}"),
    ],
)
def test_a_folder_with_an_envelope_is_found_without_being_named(validate: Validate, file: str, content: Any) -> None:
    found = validate({file: content})
    assert files_of(found) == {file}
    assert [each.message for each in found.diagnostics if each.severity == "error"] == []


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("package.json", {"name": "x", "version": "1.0.0", "dependencies": {"left-pad": "1"}}),
        ("action.yml", "name: x\ninputs: {a: {}}\noutputs: {b: {}}\nruns: {using: node20}\n"),
        (".github/workflows/ci.yaml", "on: push\njobs: {a: {steps: [{run: ls}]}}\n"),
        ("docker-compose.yaml", "services:\n  web: {image: x, depends_on: [db]}\n"),
        ("stages.json", {"stages": [{"name": "build"}, {"name": "test"}]}),
        ("gitlab.yml", "stages: [build, test]\n"),
        ("metrics.json", [{"stageId": 1, "inputs": 3, "outputs": 4}]),
        ("checkpoint.json", {"checkpointId": "ckpt-1", "stageId": "S01_load_data", "runId": "run-001", "inputs": {}}),
        ("gateway.json", {"restApiId": "a", "stageId": "prod"}),
        ("prose.json", {"text": "an envelope has a stageId: S01_load_data and a goal: something"}),
        ("data.json", [1, 2, 3]),
        ("empty.json", "[]"),
        ("workflow.json", {"version": "1.14.0", "phases": {}, "agents": {}}),
    ],
)
def test_files_of_others_are_left_alone(validate: Validate, file: str, content: Any) -> None:
    assert files_of(validate({file: content})) == set()


def test_a_broken_file_of_others_is_left_alone(validate: Validate) -> None:
    assert files_of(validate({"package.json": '{"name": '})) == set()


def test_a_broken_plan_is_told(validate: Validate) -> None:
    found = validate({"plan.json": json.dumps({"stages": [STAGE, OTHER]})[:-1]})
    assert [(each.at.file, each.name) for each in found.diagnostics] == [("plan.json", "invalid-json")]


def test_a_link_to_nothing_is_no_fault_of_a_project(tmp_path: Path, validate: Validate) -> None:
    (tmp_path / "data.json").symlink_to("nowhere.json")
    assert files_of(validate({"plan.json": [STAGE]})) == {"plan.json"}


def test_a_name_that_another_system_claims_is_not_considered(validate: Validate) -> None:
    registry = {"agentId": "x", "steps": {}, "note": {"stageId": "S01", "goal": "x"}}
    found = validate({"steps_registry.json": registry})
    assert {each.code[:4] for each in found.diagnostics} == {"STG1"}


@pytest.mark.parametrize(
    "content",
    [
        {key: each for key, each in STAGE.items() if key != "stageId"},
        {"stages": []},
        [],
        {"reportTitle": "wine-quality", "stages": None},
        {"stages": [{"stageId": "S01_load_data"}]},
        [{"stageId": "S01_load_data"}, None],
    ],
)
def test_a_file_that_is_named_is_taken_for_less(validate: Validate, content: Any) -> None:
    found = validate({"given.json": content}, "given.json")
    assert "unknown-document" not in {each.name for each in found.diagnostics}
    assert found.diagnostics


@pytest.mark.parametrize(
    "content", [None, "S01_load_data", 1, {}, {"stages": "x"}, {"entry": "a", "stages": []}, [[STAGE]], {"inputs": {}}]
)
def test_a_file_that_is_named_and_is_something_else_is_not_taken(validate: Validate, content: Any) -> None:
    found = validate({"given.json": content}, "given.json")
    assert not any(each.code.startswith("STG4") for each in found.diagnostics)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_an_encoding_does_not_hide_a_plan(validate: Validate, encoding: str) -> None:
    assert files_of(validate({"plan.json": json.dumps([STAGE]).encode(encoding)})) == {"plan.json"}


def test_an_envelope_at_the_end_of_a_long_file_is_not_looked_for(validate: Validate) -> None:
    remarks = "# remark\n" * 5_000
    assert files_of(validate({"plan.yaml": remarks + YAML})) == set()
    assert files_of(validate({"plan.yaml": remarks + YAML}, "plan.yaml")) == {"plan.yaml"}
