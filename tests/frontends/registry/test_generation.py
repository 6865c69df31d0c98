"""The formats of registries: how they are told apart, and what is wrong with those between the releases."""

from collections.abc import Mapping

import pytest

from stagec.core.json import Json, Object
from stagec.core.place import Place
from stagec.languages.registry.generation import Generation, judge_agent, judge_registry, recognise_generation
from stagec.sources.formats.json import FORMAT
from stagec.sources.tree import Tree

ADDRESS: Object = {"c1": "steps", "c2": "initial", "c3": "a", "edition": "default"}
NEW: Object = {"stepId": "a", "name": "A", "kind": "work", "address": ADDRESS, "uvVariables": [], "usesStdin": False}
OLD: Object = {"stepId": "a", "name": "A", "c2": "initial", "c3": "a"}
PAIR: Object = {"initial": "a", "continuation": "a"}
ROOT: Object = {"agentId": "demo", "version": "1.0.0", "c1": "steps"}


def registry(**members: Json) -> Tree:
    return Tree("steps_registry.json", "registry", FORMAT, value={**ROOT, **members})


def faults(tree: Tree) -> list[tuple[str, object]]:
    judged, _ = judge_registry(tree)
    return [(fault.topic, fault.at.pointer) for fault in judged.faults]


@pytest.mark.parametrize(
    ("root", "written"),
    [
        ({}, None),
        ({"steps": {}}, None),
        ({"steps": []}, None),
        ({"steps": {"a": 1}}, None),
        ({"steps": {"a": {"stepId": "a"}}}, None),
        ({"steps": {"a": NEW}}, Generation.V1_14),
        ({"steps": {"a": {"kind": 5}}}, Generation.V1_14),
        ({"steps": {"a": {"address": None}}}, Generation.V1_14),
        ({"steps": {"a": OLD}}, Generation.V1_13),
        ({"steps": {"a": {"adaptation": ""}}}, Generation.V1_13),
        ({"steps": {"a": OLD, "b": NEW}}, Generation.V1_14),
        ({"steps": {"a": {**OLD, "kind": "work"}}}, Generation.V1_14),
        ({"steps": {"a": OLD}, "entryStepMapping": {"poll:state": PAIR}}, Generation.V1_13),
        ({"entryStepMapping": {"poll:state": PAIR}}, Generation.V1_14),
        ({"entryStepMapping": {"poll:state": "a"}}, Generation.V1_13),
        ({"entryStepMapping": {"poll:state": "a", "count:check": PAIR}}, Generation.V1_14),
        ({"entryStepMapping": []}, None),
        ({"validationSteps": {"a": {"preflightConditions": []}}}, Generation.V1_14),
        ({"validators": {"a": {"phase": "postllm"}}}, Generation.V1_14),
        ({"version": "1.14.0", "$schema": "steps_registry.1.14.schema.json"}, None),
    ],
)
def test_steps_tell_the_format_before_entries_and_conditions(root: Object, written: Generation | None) -> None:
    assert recognise_generation(root) is written


BETWEEN: Mapping[str, Object] = {
    "entry": {"entryStepMapping": {"poll:state": PAIR}},
    "preflightConditions": {"validationSteps": {"a": {"preflightConditions": []}}},
    "postLLMConditions": {"validationSteps": {"a": {"postLLMConditions": []}}},
    "phase": {"validators": {"a": {"phase": "postllm"}}},
}


@pytest.mark.parametrize("sign", BETWEEN)
def test_a_registry_between_the_releases_has_one_fault_and_is_not_readable(sign: str) -> None:
    judged, _ = judge_registry(registry(steps={"a": OLD}, **BETWEEN[sign]))
    assert [(fault.topic, fault.reason) for fault in judged.faults] == [("future-format", sign)]
    assert not judged.readable


def test_a_registry_of_either_format_is_judged_by_its_own_schema() -> None:
    assert faults(registry(steps={"a": OLD}, entryStepMapping={"poll:state": "a"})) == []
    assert faults(registry(steps={"a": NEW}, entryStepMapping={"poll:state": PAIR})) == []
    assert faults(registry(steps={"a": {**NEW, "structuredGate": {"allowedIntents": ["abort"]}}})) == [
        ("incomplete-gate", ("steps", "a", "structuredGate", "intentSchemaRef")),
        ("unknown-intent", ("steps", "a", "structuredGate", "allowedIntents", 0)),
    ]


def test_a_step_of_the_other_format_lacks_nothing_that_it_has_there() -> None:
    assert faults(registry(steps={"a": OLD, "b": {**NEW, "stepId": "b"}})) == []
    assert faults(registry(steps={"a": {"name": "A", "c2": "initial"}, "b": NEW})) == [
        ("incomplete-step", ("steps", "a", "stepId"))
    ]
    assert faults(registry(steps={"a": {**OLD, "kind": "work"}})) == [
        ("mistyped-step-member", ("steps", "a", "uvVariables"))
    ]


def test_conditions_of_the_other_format_stand_for_both_lists() -> None:
    guard: Object = {"stepId": "a", "name": "A", "address": {"c2": "retry", "c3": "a"}, "validationConditions": []}
    assert faults(registry(steps={"a": NEW}, validationSteps={"a": guard})) == []
    short = {key: given for key, given in guard.items() if key != "validationConditions"}
    assert faults(registry(steps={"a": NEW}, validationSteps={"a": short})) == [
        ("malformed-validation-step", ("validationSteps", "a", "preflightConditions"))
    ]


def agent(**runner: Json) -> Tree:
    usual: Object = {"flow": {"systemPromptPath": "s.md", "prompts": {}}, "verdict": {"type": "x", "config": {}}}
    named: Object = {"version": "1.0.0", "name": "demo", "displayName": "Demo", "description": "A demo"}
    whole: Object = {**named, "runner": {**usual, **runner}}
    return Tree("agent.json", "agent", FORMAT, value=whole)


TOOLS: Object = {"allowedTools": [], "permissionMode": "plan"}


@pytest.mark.parametrize(
    ("runner", "beside", "written"),
    [
        ({}, None, Generation.V1_14),
        ({"boundaries": {}}, None, Generation.V1_14),
        ({"boundaries": {"sandbox": {}}}, None, Generation.V1_14),
        ({"boundaries": TOOLS}, None, Generation.V1_13),
        ({"boundaries": 1}, None, Generation.V1_13),
        ({}, Generation.V1_13, Generation.V1_13),
        ({"boundaries": TOOLS}, Generation.V1_14, Generation.V1_14),
    ],
)
def test_an_agent_has_the_format_of_its_registry(
    runner: Object, beside: Generation | None, written: Generation
) -> None:
    assert judge_agent(agent(**runner), beside)[1] is written


def test_an_agent_of_the_later_format_needs_no_boundaries() -> None:
    lacking = [fault.at for fault in judge_agent(agent(), Generation.V1_13)[0].faults]
    assert Place("agent.json", ("runner", "boundaries")) in lacking
    assert not any(
        each.pointer[:2] == ("runner", "boundaries")
        for each in (fault.at for fault in judge_agent(agent(boundaries=TOOLS), Generation.V1_14)[0].faults)
    )
