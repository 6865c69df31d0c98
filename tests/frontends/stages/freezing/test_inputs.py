"""What a run of a pipeline is given."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from frontends.stages.freezing._pipelines import Freezing, markdown, stage

from stagec.core.json import Json
from stagec.plan import Plan
from stagec.plan.document import Input


def shown(plan: Plan) -> Mapping[str, tuple[bool, Json, Json]]:
    """Return for each input whether it is required, its default and its schema."""
    return {
        name: (each.required, each.default, None if each.schema is None else json.loads(plan.contents[each.schema]))
        for name, each in plan.inputs.items()
    }


def test_every_name_of_a_declared_context_is_required(project: Freezing) -> None:
    plan = project(markdown("{{ctx.task}}"), "context: {task: {type: string}, place: {}, other: true}\n")
    assert shown(plan) == {
        "task": (True, None, {"type": "string"}),
        "place": (True, None, None),
        "other": (True, None, None),
    }


def test_a_default_makes_a_name_optional(project: Freezing) -> None:
    plan = project(markdown(), "context: {task: {type: array, default: [1, x]}}\n")
    assert shown(plan) == {"task": (False, [1, "x"], {"type": "array", "default": [1, "x"]})}


@pytest.mark.parametrize("default", ["null", "9007199254740992", "[{a: 1.0e+20}]"])
def test_a_default_that_a_plan_cannot_tell_is_none(project: Freezing, default: str) -> None:
    plan = project(markdown(), f"context: {{task: {{default: {default}}}}}\n")
    assert [(each.required, each.default) for each in plan.inputs.values()] == [(True, None)]


def test_a_schema_that_allows_nothing_is_one(project: Freezing) -> None:
    assert shown(project(markdown(), "context: {task: false}\n")) == {"task": (True, None, False)}


def test_without_a_declared_context_all_that_is_read_is_required(project: Freezing) -> None:
    plan = project(
        markdown("{{ctx.task.name}} {{ctx.task}} {{ctx.workflowRunId}} {{stage.id}}"),
        "gate: {plan: {defer: {branch: main, ctx.stop: true}, block: {stageExecutionId: x}}}\n",
    )
    assert plan.inputs == {"task": Input(required=True), "branch": Input(required=True), "stop": Input(required=True)}


def test_results_of_other_stages_are_not_given(machine: Freezing) -> None:
    plan = machine(stage("a", next="b"), stage("b", body="${ctx.upstream} ${ctx.stageExecutionId} ${ctx.x}"))
    assert plan.inputs == {"x": Input(required=True)}


def test_what_a_setup_hook_may_provide_is_not_required(project: Freezing) -> None:
    setup = "hooks: {plan: {setup: 'a:b'}}\n"
    assert project(markdown("{{ctx.task}}"), setup).inputs == {"task": Input()}
    assert project(markdown("{{ctx.made}}"), setup + "context: {task: {}}\n").inputs == {"task": Input()}


def test_a_schema_of_the_context_refers_to_itself_and_to_files(project: Freezing) -> None:
    plan = project(
        markdown(),
        "context:\n  task: {$ref: '#/$defs/a', $defs: {a: {type: string}}}\n  place: {$ref: 'more.json#/inner'}\n",
        more__json='{"inner": {"$ref": "#/$defs/b"}, "$defs": {"b": {"type": "integer"}}}',
    )
    assert set(plan.sources) == {"pipeline.yaml", "plan.md", "more.json"}
    assert all(each.required and each.schema for each in plan.inputs.values())
