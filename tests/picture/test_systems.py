"""What both systems say of a flow for its drawing: names that nothing has, prompts and schemas."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.ir.flow import Flow
from stagec.ir.plan.node import Go
from stagec.sources.project.configuration import configure

STAGE = """---
id: {id}
name: N
allowedTools: []
completionTool: done
completionSchema: {{type: object}}
retryPolicy: {{maxAttempts: 1, backoff: none}}
turnCap: 3
resolutionPolicy: fail
---
Do it.
"""


def flow_of(folder: Path) -> Flow:
    (flow,) = compile_project(Project(folder, (folder,), configure((folder,), folder).settings)).flows
    return flow


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    for name in ("plan", "work"):
        (tmp_path / f"{name}.md").write_text(STAGE.format(id=name), encoding="utf-8")
    declared = {
        "id": "p",
        "version": "1",
        "entry": "plam",
        "stages": ["*.md"],
        "next": {"plan": {"stages": ["work", "wrok"], "execution": "parallel"}},
    }
    (tmp_path / "pipeline.yaml").write_text(json.dumps(declared), encoding="utf-8")
    return tmp_path


def test_a_pipeline_keeps_the_names_that_no_stage_has(pipeline: Path) -> None:
    flow = flow_of(pipeline)
    assert [(edge.source, edge.on, edge.target) for edge in flow.lost] == [("plan", "ok", Go("wrok"))]
    assert [entry.node for _, entry in flow.lost_entries] == ["plam"]


def test_a_stage_has_a_prompt_and_a_schema(pipeline: Path) -> None:
    parts = dict(flow_of(pipeline).nodes["plan"].parts)
    assert parts["prompt"].file == "plan.md"
    assert parts["schema"].pointer == ("completionSchema",)


def test_a_registry_keeps_the_names_that_no_step_has(tmp_path: Path) -> None:
    gate = {"allowedIntents": ["next"], "intentField": "intent", "intentSchemaRef": "#/properties/intent"}
    step = {
        "stepId": "initial.a",
        "name": "A",
        "c2": "initial",
        "c3": "a",
        "stepKind": "work",
        "structuredGate": gate,
        "transitions": {"next": {"target": "elsewhere"}},
    }
    registry = {"agentId": "a", "version": "1.0.0", "c1": "c", "entryStep": "nowhere.b", "steps": {"initial.a": step}}
    (tmp_path / "steps_registry.json").write_text(json.dumps(registry), encoding="utf-8")
    flow = flow_of(tmp_path)
    assert [(edge.source, edge.on, edge.target) for edge in flow.lost] == [("initial.a", "next", Go("elsewhere"))]
    assert [(name, entry.node) for name, entry in flow.lost_entries] == [("", "nowhere.b")]
