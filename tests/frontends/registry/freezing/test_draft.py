"""The plan as a whole: its nodes, and the files that it is made of."""

from __future__ import annotations

import json
from typing import Any

from stagec.core.json import Json
from stagec.ir.plan import dump, load, verify

END: dict[str, Any] = {"transitions": {"closing": {"target": None}, "repeat": {"target": "closure.a"}}}
ON: dict[str, Any] = {"transitions": {"handoff": {"target": "closure.a"}}}


def test_every_step_but_sections_is_a_node(flows: Any) -> None:
    steps = {
        "initial.a": ON,
        "closure.a": {**END, "name": "Close it"},
        "section.a": {},
        "b": {"c2": "section", "c3": "b"},
    }
    found = flows.plan(steps).nodes
    assert [(key, node.kind, node.title) for key, node in found.items()] == [
        ("initial.a", "work", "Initial.A"),
        ("closure.a", "closure", "Close it"),
    ]


def test_a_step_of_no_kind_has_none(flows: Any) -> None:
    assert flows.plan({"triage": {"c2": "other", "c3": "a"}}).nodes["triage"].kind is None


def test_a_step_without_a_name_has_no_title(flows: Any) -> None:
    found = flows.compile({"initial.a": {"name": None}}).meanings[0].plan()
    assert found.nodes["initial.a"].title is None


def test_the_files_are_those_that_the_plan_is_made_of(flows: Any) -> None:
    schemas: Json = {"used": {"$ref": "near.json#/x"}, "unused": {"$ref": "far.json"}}
    step = {"outputSchemaRef": {"file": "o.json", "schema": "used"}}
    files = {
        "schemas/o.json": json.dumps(schemas),
        "schemas/near.json": json.dumps({"x": {"$ref": "deep.json"}}),
        "schemas/deep.json": "{}",
        "schemas/far.json": "{}",
        "prompts/steps/other/f_default.md": "not asked",
    }
    plan = flows.plan({"initial.a": step}, agent={}, files=files)
    assert [*plan.sources] == [
        "agent.json",
        "prompts/steps/initial/a/f_default.md",
        "prompts/system.md",
        "schemas/deep.json",
        "schemas/near.json",
        "schemas/o.json",
        "steps_registry.json",
    ]


def test_the_prompts_of_next_attempts_are_among_them(flows: Any) -> None:
    retry = "prompts/steps/retry/a/f_failed.md"
    check: Json = {"type": "command", "command": "true", "successWhen": "empty", "failurePattern": "bad"}
    body: Json = {
        "stepId": "closure.a",
        "name": "A",
        "c2": "retry",
        "c3": "a",
        "validationConditions": [{"validator": "v"}],
    }
    members: dict[str, Json] = {
        "validators": {"v": check},
        "failurePatterns": {"bad": {"description": "", "edition": "failed"}},
        "validationSteps": {"closure.a": body},
    }
    assert retry in flows.plan({"initial.a": ON, "closure.a": END}, files={retry: "x"}, **members).sources


def test_a_plan_is_read_as_it_was_written(flows: Any) -> None:
    written = dump(flows.plan({"initial.a": ON, "closure.a": END}, agent={}))
    assert dump(load(written).plan) == written
    assert verify(written) == load(written)


def test_the_same_registry_gives_the_same_bytes(flows: Any) -> None:
    steps = {"initial.a": ON, "closure.a": END}
    assert dump(flows.plan(steps, agent={})) == dump(flows.plan(steps, agent={}))
