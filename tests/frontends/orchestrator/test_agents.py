"""Which agents an orchestrator file is compared with."""

from __future__ import annotations

from collections.abc import Callable

from frontends.orchestrator.conftest import BASE, FILE, change

from stagec.check.pipeline import Compilation
from stagec.core.json import Json

Validate = Callable[..., Compilation]


def make_agent(name: str, kind: str = "1.13") -> dict[str, Json]:
    """Return the files of an agent with one step, whose verdict may be two."""
    address: dict[str, Json] = {"c2": "closure", "c3": "end", "edition": "default"}
    step: dict[str, Json] = {
        "stepId": "closure.end",
        "name": "End",
        "uvVariables": [],
        "usesStdin": False,
        "outputSchemaRef": {"file": "a.schema.json", "schema": "end"},
        "structuredGate": {
            "allowedIntents": ["closing"],
            "intentSchemaRef": "#/properties/action",
            "intentField": "action",
        },
        "transitions": {"closing": {"target": None}},
    }
    if kind == "1.13":
        step |= {"stepKind": "closure", **address}
        entry: Json = "closure.end"
    else:
        step |= {"kind": "closure", "address": {"c1": "steps", **address}}
        entry = {"initial": "closure.end", "continuation": "closure.end"}
    schema: Json = {
        "end": {
            "type": "object",
            "required": ["action", "verdict"],
            "properties": {"action": {"enum": ["closing"]}, "verdict": {"enum": ["approved", "rejected"]}},
        }
    }
    return {
        f".agent/{name}/agent.json": {
            "version": "1.0.0",
            "name": name,
            "displayName": name,
            "description": name,
            "runner": {
                "flow": {"systemPromptPath": "s.md", "prompts": {"registry": "steps_registry.json"}},
                "verdict": {"type": "poll:state", "config": {"maxIterations": 3}},
            },
        },
        f".agent/{name}/steps_registry.json": {
            "agentId": name,
            "version": "1.0.0",
            "c1": "steps",
            "entryStepMapping": {"poll:state": entry},
            "steps": {"closure.end": step},
        },
        f".agent/{name}/schemas/a.schema.json": schema,
    }


def told(compilation: Compilation) -> list[str]:
    return [each.code for each in compilation.diagnostics if each.at.file == FILE and each.code != "STG2164"]


MISSPELT = ("/agents/judge/outputPhases", {"aproved": "done", "rejected": "todo"})


def test_verdicts_are_those_of_both_generations_of_agents(validate: Validate) -> None:
    for kind in ("1.13", "1.14"):
        files = {FILE: change(MISSPELT), **make_agent("worker", kind), **make_agent("judge", kind)}
        assert told(validate(files)) == ["STG2136"], kind


def test_agents_are_read_when_only_the_file_is_named(validate: Validate) -> None:
    files = {FILE: change(MISSPELT), **make_agent("worker"), **make_agent("judge")}
    compilation = validate(files, FILE)
    assert told(compilation) == ["STG2136"]
    assert [flow.id for flow in compilation.flows] == ["workflow"]


def test_a_project_without_agents_gets_a_note(validate: Validate) -> None:
    assert told(validate({FILE: BASE})) == ["STG2131"]


def test_every_agent_has_to_be_there_where_one_is(validate: Validate) -> None:
    assert told(validate({FILE: BASE, **make_agent("other")})) == ["STG2130", "STG2130"]


def test_a_folder_that_leads_out_of_the_project_holds_no_agent(validate: Validate) -> None:
    edits = (("/agents/judge/directory", "../../.."), ("/agents/worker/directory", "/"))
    assert told(validate({FILE: change(*edits), **make_agent("other")})) == ["STG2130", "STG2130"]


def test_an_agent_that_cannot_be_read_is_told_where_it_is(validate: Validate) -> None:
    files: dict[str, Json | bytes] = {FILE: change(MISSPELT), **make_agent("worker"), **make_agent("judge")}
    files[".agent/judge/steps_registry.json"] = b"{"
    assert told(validate(files)) == []
